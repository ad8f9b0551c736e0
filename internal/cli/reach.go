package cli

import (
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"familiar/internal/control"
	"familiar/internal/instance"
	"familiar/internal/secret"
)

// reachFlags name a running bot: by directory, by id, or by FAMILIAR_URL and FAMILIAR_TOKEN.
type reachFlags struct {
	dir string
	id  []string // what stands as an argument: one id, or nothing
}

func (f *reachFlags) declare(cmd *cobra.Command) {
	dirFlag(cmd.Flags(), &f.dir)
}

// remote reports whether the bot is named by its address alone.
func (f *reachFlags) remote() bool {
	return os.Getenv("FAMILIAR_URL") != "" && f.dir == "" && len(f.id) == 0
}

// instance finds the bot's directory.
func (f *reachFlags) instance() (instance.Instance, error) { return existing(f.dir, f.id...) }

// reach finds the bot.
func (f *reachFlags) reach() (*control.Client, error) {
	if f.remote() {
		address := os.Getenv("FAMILIAR_URL")
		if u, err := url.Parse(address); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("FAMILIAR_URL is %q: it must be an address as in http://127.0.0.1:8420", address)
		}
		token := secret.New(os.Getenv("FAMILIAR_TOKEN"))
		if !token.Set() {
			return nil, errors.New("FAMILIAR_URL is set and FAMILIAR_TOKEN is not: set it to the content of the bot's state/token")
		}
		return control.New(address, token), nil
	}
	inst, err := f.instance()
	if err != nil {
		return nil, err
	}
	running, err := inst.Running()
	switch {
	case errors.Is(err, instance.ErrNotRunning):
		return nil, fmt.Errorf("%w (start it with: %s)", err, upFor(f.dir, inst))
	case err != nil:
		return nil, fmt.Errorf("find the bot in %s: %w", inst.Dir, err)
	case running.URL == "":
		return nil, errors.New("the bot is starting; ask again in a moment")
	}
	token, err := inst.ReadToken()
	if err != nil {
		return nil, err
	}
	return control.New(running.URL, token), nil
}
