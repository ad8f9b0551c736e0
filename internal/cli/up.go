package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"familiar/internal/config"
	"familiar/internal/host"
	"familiar/internal/instance"
	"familiar/internal/process"
	"familiar/internal/secret"
)

// upFlags are the flags of up.
type upFlags struct {
	dir    string
	port   int
	noOpen bool
	desk   string
	dry    bool
	yolo   bool
}

func upCommand() *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run a bot in the foreground",
		Long: "Run one bot in the foreground, until Ctrl-C. A directory that is missing or empty gets a working default:\n" +
			"a companion on its own page, with an agent that is found on this machine.",
		Example: "  familiar up\n  familiar up --dir ./my-bot --port 9000 --no-open",
		Args:    takes(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return up(cmd, f) },
	}
	dirFlag(cmd.Flags(), &f.dir)
	cmd.Flags().IntVar(&f.port, "port", -1, "port of the page, instead of server.port; 0 takes any free one")
	cmd.Flag("port").DefValue = "0" // which help does not show; what no port stands for is nobody's matter
	cmd.Flags().BoolVar(&f.noOpen, "no-open", false, "do not open the page in a browser")
	cmd.Flags().StringVar(&f.desk, "desk", "", "kind of work, instead of bot.desk")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "start no agent: write what it would be told to a file (agent.dryRun)")
	cmd.Flags().BoolVar(&f.yolo, "yolo", false, "let agents do everything that their walls allow, unasked; never a default")
	return cmd
}

// overrides are the settings that flags take the place of.
func (f upFlags) overrides(cmd *cobra.Command) []config.Override {
	var set []config.Override
	if cmd.Flags().Changed("port") {
		set = append(set, config.Override{Name: "flag --port", Path: "server.port", Value: strconv.Itoa(f.port)})
	}
	if f.desk != "" {
		set = append(set, config.Override{Name: "flag --desk", Path: "bot.desk", Value: f.desk})
	}
	if f.dry {
		set = append(set, config.Override{Name: "flag --dry-run", Path: "agent.dryRun.enabled", Value: "true"})
	}
	return set
}

// ofFlags makes a misuse of mistakes that are all in flags.
func ofFlags(err error) error {
	var problems config.Problems
	if errors.As(err, &problems) && !slices.ContainsFunc(problems, func(p config.Problem) bool { return !strings.HasPrefix(p.At.Name, "flag ") }) {
		return misuse{err}
	}
	return err
}

// collectAt is how far the heap may grow, in percent of what is in use, before garbage is collected: a bot waits most of
// the time on a small machine, so memory counts for more than the collector's share of a processor
// (docs/decisions/025). GOGC, where it is set, is the operator's own choice.
const collectAt = 50

// up runs a bot from its lock to its last word.
func up(cmd *cobra.Command, f upFlags) (err error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	inst, err := namedInstance(f.dir)
	if err != nil {
		return err
	}
	// The configuration comes before everything else: a mistake in it leaves no trace.
	load := func() (config.Loaded, error) {
		return config.Load(config.Where{Dir: inst.Dir, Set: f.overrides(cmd)}, os.Environ())
	}
	loaded, err := load()
	if err != nil {
		return ofFlags(err)
	}
	lock, err := inst.Lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	token, err := inst.Token()
	if err != nil {
		return err
	}
	vault := &secret.Vault{}
	vault.Know(append(loaded.Secrets, token)...)
	logs, err := openLogs(cmd, inst, loaded.Config.Logging, vault)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, logs.Close()) }()
	for _, w := range loaded.Warnings {
		logs.Warn("the configuration deserves a look", w.Attrs()...)
	}
	reload := make(chan struct{}, 1)
	ctx, leave := heed(cmd.Context(), logs.Logger, reload)
	defer leave()
	h, err := host.Open(ctx, host.Options{Instance: inst, Loaded: loaded, Load: load, Vault: vault, Log: logs.Logger, Token: token, Version: versionOf(), Yolo: f.yolo})
	switch {
	case err != nil && ctx.Err() != nil: // asked to leave before it was there, which is no failure
		logs.Info("left before it was ready", "err", err)
		return nil
	case err != nil:
		return fmt.Errorf("start: %w", err)
	}
	return live(ctx, h, lock, reload, func() { announce(ctx, cmd.OutOrStdout(), h, logs, f.noOpen) })
}

// trim gives back the memory that only the start needed; where that cannot be done, there is only less of it.
func trim() {
	debug.FreeOSMemory()
	_ = process.Trim()
}

// live runs the bot until ctx ends, says where it is once it answers, and reloads its configuration when asked.
func live(ctx context.Context, h *host.Host, lock *instance.Lock, reload <-chan struct{}, announce func()) error {
	if err := lock.SetURL(h.URL()); err != nil {
		return errors.Join(err, h.Close())
	}
	ran := make(chan error, 1)
	go func() { ran <- h.Run(ctx) }()
	ready := h.Ready()
	for {
		select {
		case <-ready:
			announce()
			trim()
			ready = nil
		case <-reload:
			h.Reload()
		case err := <-ran:
			return err
		}
	}
}
