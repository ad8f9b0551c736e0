package outbox

import (
	"context"
	"fmt"

	"familiar/internal/chat"
	"familiar/internal/platform"
	"familiar/internal/tool"
)

// ask posts a question, with buttons where the platform has them. Only the host asks: an agent that wants something
// goes through a tool that asks.
func (o *Outbox) ask(ctx context.Context, t chat.Turn, p platform.Platform, a chat.Ask) (chat.Receipt, error) {
	if t.Kind != chat.Notice {
		return chat.Receipt{}, fmt.Errorf("a turn of kind %q may not ask", t.Kind)
	}
	able := p.Abilities()
	if !able.Buttons {
		return o.say(ctx, t, p, chat.Say{Place: a.Place, Text: a.Text + "\n\n" + a.Words, ReplyTo: a.ReplyTo, Key: a.Key})
	}
	a.Text = o.deps.Vault.Mask(a.Text)
	parts := Fit(a.Text, Frame{Max: able.MaxText, Unit: able.Unit, Render: able.Render, Parts: 1})
	if len(parts) == 0 || blank(parts[0]) {
		return chat.Receipt{}, tool.Bad("question: it is blank")
	}
	a.Text = parts[0]
	if a.Key == "" {
		a.Key = o.key(t)
	}
	r := newRow(t, a.Key, a)
	if receipt, known, err := o.ledger.begin(ctx, []row{r}); err != nil || known {
		return receipt, err
	}
	return o.deliver(ctx, p, r)
}
