package remind

import (
	"context"
	_ "embed"
	"errors"
	"sync"
	"time"

	"familiar/internal/chat"
	"familiar/internal/clock"
	"familiar/internal/tool"
)

var (
	//go:embed set.md
	setDoc string
	//go:embed cancel.md
	cancelDoc string
	//go:embed list.md
	listDoc string
)

// Kit is the tools set-reminder, cancel-reminder and list-reminders. Each acts for the person whom the turn is from,
// and in a direct conversation alone.
type Kit struct {
	store *Store
	zone  *time.Location
	hooks Hooks

	mu   sync.Mutex
	done map[chat.TurnID]bool // turns that set their reminder
}

// Hooks are told of each reminder that was set, and of each that a person took back.
type Hooks struct{ Set, Cancelled func(chat.Turn) }

// NewKit makes the tools. zone is what a time without an offset is of.
func NewKit(s *Store, zone *time.Location, hooks Hooks) *Kit {
	return &Kit{store: s, zone: zone, hooks: hooks, done: map[chat.TurnID]bool{}}
}

// Tools returns the tools; none of a nil Kit.
func (k *Kit) Tools() []tool.Tool {
	if k == nil {
		return nil
	}
	return []tool.Tool{
		tool.New(tool.Tool{Name: "set-reminder", Doc: setDoc, Effect: tool.Writes, Needs: chat.Public}, k.setReminder),
		tool.New(tool.Tool{Name: "cancel-reminder", Doc: cancelDoc, Effect: tool.Writes, Needs: chat.Public}, k.cancelReminder),
		tool.New(tool.Tool{Name: "list-reminders", Doc: listDoc, Effect: tool.Reads, Needs: chat.Public}, k.listReminders),
	}
}

// Forget drops what is known of a turn that has ended.
func (k *Kit) Forget(t chat.Turn) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.done, t.ID)
}

// errNotDirect refuses everything outside a direct conversation.
const errNotDirect = ErrInvalid("reminders are for direct conversations only: what somebody is reminded of is their own affair")

type setArgs struct {
	ScheduledAt string `json:"scheduledAt" jsonschema:"when, in ISO 8601; without an offset it is the bot's own time zone"`
	Message     string `json:"message" jsonschema:"what to remind the person of, understandable by itself"`
}

type setDone struct {
	ReminderID  string `json:"reminderId"`
	ScheduledAt string `json:"scheduledAt"`
}

// setReminder checks in the order of air-friends spec §7.5. A turn that the clock began sets none: reminders that
// remind of reminders would never end.
func (k *Kit) setReminder(ctx context.Context, t chat.Turn, a setArgs) (setDone, error) {
	if !t.Place.Private() {
		return setDone{}, fault(errNotDirect)
	}
	if t.Kind != chat.Talk {
		return setDone{}, fault(ErrInvalid("a reminder is set in answer to somebody's wish, not by a reminder"))
	}
	free := k.reserve(t)
	if free == nil {
		return setDone{}, fault(ErrInvalid("one reminder was set in this conversation already; the person can ask for the next one in another message"))
	}
	at, err := clock.Parse(a.ScheduledAt, k.zone)
	if err != nil {
		free()
		return setDone{}, fault(ErrInvalid("scheduledAt: " + err.Error()))
	}
	r, err := k.store.Set(ctx, t.From, t.Place.ID, at, a.Message)
	if err != nil {
		free()
		return setDone{}, fault(err)
	}
	k.hooks.Set(t)
	return setDone{r.ID, stamp(r.At)}, nil
}

// reserve takes the one slot of a turn, nil when it is taken; what it returns gives the slot back.
func (k *Kit) reserve(t chat.Turn) (free func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.done[t.ID] {
		return nil
	}
	k.done[t.ID] = true
	return func() { k.Forget(t) }
}

type cancelArgs struct {
	ReminderID string `json:"reminderId" jsonschema:"id of the reminder, as list-reminders tells it"`
}

type cancelDone struct {
	ReminderID string `json:"reminderId"`
	Cancelled  bool   `json:"cancelled"`
}

func (k *Kit) cancelReminder(ctx context.Context, t chat.Turn, a cancelArgs) (cancelDone, error) {
	if !t.Place.Private() {
		return cancelDone{}, fault(errNotDirect)
	}
	if err := k.store.Cancel(ctx, t.From, a.ReminderID); err != nil {
		return cancelDone{}, fault(err)
	}
	k.hooks.Cancelled(t)
	return cancelDone{a.ReminderID, true}, nil
}

type listed struct {
	ID          string `json:"id"`
	Message     string `json:"message"`
	ScheduledAt string `json:"scheduledAt"`
	CreatedAt   string `json:"createdAt"`
}

type list struct {
	Reminders []listed `json:"reminders"`
	Count     int      `json:"count"`
}

func (k *Kit) listReminders(ctx context.Context, t chat.Turn, _ struct{}) (list, error) {
	if !t.Place.Private() {
		return list{}, fault(errNotDirect)
	}
	all, err := k.store.Active(ctx, t.From)
	if err != nil {
		return list{}, fault(err)
	}
	out := list{Reminders: []listed{}, Count: len(all)}
	for _, r := range all {
		out.Reminders = append(out.Reminders, listed{r.ID, r.Message, stamp(r.At), stamp(r.Created)})
	}
	return out, nil
}

// fault turns what the caller can mend into an answer of status 400.
func fault(err error) error {
	var invalid ErrInvalid
	if errors.As(err, &invalid) {
		return tool.Bad("%s", invalid)
	}
	return err
}
