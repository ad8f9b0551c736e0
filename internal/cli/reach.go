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
type reachFlags struct{ dir string }

func (f *reachFlags) declare(cmd *cobra.Command) {
	dirFlag(cmd.Flags(), &f.dir)
}

// remote reports whether the bot is named by its address alone.
func (f *reachFlags) remote(id string) bool {
	return os.Getenv("FAMILIAR_URL") != "" && f.dir == "" && id == ""
}

// instance finds the bot's directory. id is used when no directory was given.
func (f *reachFlags) instance(id string) (instance.Instance, error) {
	if f.dir != "" || id == "" {
		return namedInstance(f.dir)
	}
	return instance.Find("", id)
}

// reach finds the bot. id is used when no directory was given.
func (f *reachFlags) reach(id string) (*control.Client, error) {
	if f.remote(id) {
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
	inst, err := f.instance(id)
	if err != nil {
		return nil, err
	}
	running, err := inst.Running()
	if err == nil && running.URL == "" {
		err = errors.New("the bot is starting; ask again in a moment")
	}
	if err != nil {
		return nil, fmt.Errorf("find the bot in %s: %w (start it with: familiar up --dir %s)", inst.Dir, err, inst.Dir)
	}
	token, err := inst.ReadToken()
	if err != nil {
		return nil, err
	}
	return control.New(running.URL, token), nil
}
