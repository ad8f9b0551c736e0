package briefing

import (
	"context"
	"io"
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
	return shown(data)
}
