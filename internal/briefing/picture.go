package briefing

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"

	"familiar/internal/agent"
)

// The bounds of what is shown, in pixels. A side is what the narrowest of the large providers takes: they refuse a whole
// turn for one picture. All of a moving picture's first frame is decoded, so that a few bytes must not become a room full.
const (
	longestSide   = 8000
	mostOfAMoving = 16_000_000
)

// The kinds of picture that agents take as they are, by what the bytes say, and how the size of those that we can read is
// found out; nil where we cannot. The kind that was claimed counts for nothing.
var (
	shownAsItIs = map[string]func(io.Reader) (image.Config, error){
		"image/png": png.DecodeConfig, "image/jpeg": jpeg.DecodeConfig, "image/webp": nil,
	}
	moving = "image/gif"
)

// shown is a picture as agents take it, of a moving one the first frame; ok is false for what they do not take, which
// stays a line of text.
func shown(data []byte) (_ agent.Image, ok bool) {
	kind := http.DetectContentType(data)
	if kind == moving {
		return still(data)
	}
	size, taken := shownAsItIs[kind]
	if !taken {
		return agent.Image{}, false
	}
	if size != nil {
		if c, err := size(bytes.NewReader(data)); err == nil && max(c.Width, c.Height) > longestSide {
			return agent.Image{}, false
		}
	}
	return agent.Image{MIME: kind, Data: data}, true
}

// still is the first frame of a moving picture.
func still(data []byte) (_ agent.Image, ok bool) {
	c, err := gif.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.Width <= 0 || c.Height <= 0 || max(c.Width, c.Height) > longestSide || c.Width*c.Height > mostOfAMoving {
		return agent.Image{}, false
	}
	frame, err := gif.Decode(bytes.NewReader(data)) // the first one, and no more is read
	if err != nil {
		return agent.Image{}, false
	}
	var out bytes.Buffer
	if err := png.Encode(&out, frame); err != nil || out.Len() > largestImage {
		return agent.Image{}, false
	}
	return agent.Image{MIME: "image/png", Data: out.Bytes()}, true
}
