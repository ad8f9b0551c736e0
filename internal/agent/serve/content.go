package serve

import (
	"encoding/base64"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"familiar/internal/agent"
)

// content translates what a client prompts with. Links and embedded files become text, as the protocol wants of an
// agent that cannot reach them in another way.
func content(blocks []sdk.ContentBlock) ([]agent.Block, error) {
	var made []agent.Block
	for i, b := range blocks {
		switch {
		case b.Text != nil:
			made = append(made, agent.Text(b.Text.Text))
		case b.Image != nil:
			image, ok := picture(b.Image.MimeType, b.Image.Data)
			if !ok {
				return nil, bad("prompt[%d]: the picture is not base64", i)
			}
			made = append(made, image)
		case b.ResourceLink != nil:
			made = append(made, agent.Text("["+b.ResourceLink.Name+"]("+b.ResourceLink.Uri+")"))
		case b.Resource != nil:
			made = append(made, embedded(b.Resource.Resource))
		default:
			return nil, bad("prompt[%d]: only text, pictures and resources are taken", i)
		}
	}
	if len(made) == 0 {
		return nil, bad("prompt: there is nothing in it")
	}
	return made, nil
}

func picture(mime, data string) (agent.Image, bool) {
	raw, err := base64.StdEncoding.DecodeString(data)
	return agent.Image{MIME: mime, Data: raw}, err == nil && len(raw) > 0
}

func embedded(r sdk.EmbeddedResourceResource) agent.Block {
	switch {
	case r.TextResourceContents != nil:
		return agent.Text("<file uri=\"" + strings.ReplaceAll(r.TextResourceContents.Uri, `"`, "%22") + "\">\n" +
			r.TextResourceContents.Text + "\n</file>")
	case r.BlobResourceContents != nil:
		blob := r.BlobResourceContents
		if mime := deref(blob.MimeType); strings.HasPrefix(mime, "image/") {
			if image, ok := picture(mime, blob.Blob); ok {
				return image
			}
		}
		return agent.Text("(" + blob.Uri + ")")
	}
	return agent.Text("")
}
