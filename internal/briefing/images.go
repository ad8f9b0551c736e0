package briefing

import (
	"context"
	"io"
	"net/http"
	"time"

	"familiar/internal/agent"
	"familiar/internal/chat"
)

// The bounds on pictures. The time is for all pictures of a message together, so that no number of hanging
// servers keeps a person waiting longer.
const (
	largestImage = 20 << 20 // bytes
	mostImages   = 10
	imageTime    = 10 * time.Second
)

// imageTypes are the kinds of picture that agents take, by what the bytes say. A moving picture (GIF) stays a
// line of text.
var imageTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/webp": true}

// images downloads the pictures of the messages that are to be answered. One that is too large, too slow,
// missing or no picture after all is left out: the text names it anyway.
func (g gathering) images(ctx context.Context, asked []chat.Message) []agent.Image {
	ctx, cancel := context.WithTimeout(ctx, imageTime)
	defer cancel()
	var images []agent.Image
	for _, m := range asked {
		for _, file := range m.Attachments {
			if !file.IsImage() || file.Size > largestImage || len(images) == mostImages {
				continue
			}
			if image, ok := g.image(ctx, file); ok {
				images = append(images, image)
			}
		}
	}
	return images
}

// image downloads one picture, and reports whether it is one.
func (g gathering) image(ctx context.Context, file chat.Attachment) (agent.Image, bool) {
	if ctx.Err() != nil {
		return agent.Image{}, false
	}
	body, err := g.src.Fetch(ctx, g.turn.Place, file)
	if err != nil {
		return agent.Image{}, false
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(io.LimitReader(body, largestImage+1))
	if err != nil || len(data) > largestImage {
		return agent.Image{}, false
	}
	kind := http.DetectContentType(data)
	return agent.Image{MIME: kind, Data: data}, imageTypes[kind]
}
