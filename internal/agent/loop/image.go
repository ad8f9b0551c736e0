package loop

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
)

// mostPixels bounds the pictures that are decoded to see whether they are whole: one of this size takes 160 MB.
const mostPixels = 40_000_000

// format is how one kind of picture is read.
type format struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

// formats are the kinds that the standard library reads. WebP, which providers take too, is looked at from outside.
var formats = map[string]format{
	"image/png":  {png.DecodeConfig, png.Decode},
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode},
	"image/gif":  {gif.DecodeConfig, gif.Decode},
}

// look reads the start of a picture: of which kind it really is, and how many pixels it has. Providers refuse a whole
// conversation for one picture that is none, or that is of another kind than was said.
func look(data []byte) (mime string, pixels int, ok bool) {
	mime = http.DetectContentType(data)
	if mime == "image/webp" {
		return mime, 0, len(data) > 20 && int64(binary.LittleEndian.Uint32(data[4:8]))+8 <= int64(len(data))
	}
	f, known := formats[mime]
	if !known {
		return "", 0, false
	}
	c, err := f.config(bytes.NewReader(data))
	return mime, c.Width * c.Height, err == nil && c.Width > 0 && c.Height > 0
}

// whole reports whether a picture can be read to its end, and of which kind it is.
func whole(data []byte) (mime string, ok bool) {
	mime, pixels, ok := look(data)
	f, known := formats[mime]
	if !ok || !known || pixels > mostPixels {
		return mime, ok
	}
	_, err := f.decode(bytes.NewReader(data))
	return mime, err == nil
}
