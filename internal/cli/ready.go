package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"familiar/internal/host"
	"familiar/internal/instance"
	"familiar/internal/logging"
	"familiar/internal/secret"
)

// logs is where the program speaks to its operator: the terminal or the standard streams, and a file.
type logs struct {
	*slog.Logger
	file     *logging.File
	terminal bool   // standard output is one
	shipped  func() // returns when no line is on its way to a server any more
}

func openLogs(cmd *cobra.Command, inst instance.Instance, cfg logging.Config, vault *secret.Vault) (logs, error) {
	file, err := logging.OpenFile(filepath.Join(inst.Logs(), "familiar.log"))
	if err != nil {
		return logs{}, err
	}
	l := logs{file: file, terminal: isTerminal(cmd.OutOrStdout())}
	l.Logger = logging.Also(logging.New(cfg, cmd.OutOrStdout(), cmd.ErrOrStderr(), isTerminal(cmd.ErrOrStderr()), vault), file)
	l.shipped = func() {}
	if !cfg.GELF.On() {
		return l, nil
	}
	shipper, err := logging.NewShipper(cfg.GELF, cmd.ErrOrStderr())
	if err != nil {
		return logs{}, errors.Join(err, file.Close())
	}
	l.Logger = logging.Shipped(l.Logger, shipper)
	ctx, cancel := context.WithCancel(cmd.Context())
	var ships sync.WaitGroup
	ships.Go(func() { shipper.Run(ctx) })
	l.shipped = func() {
		cancel()
		ships.Wait()
	}
	return l, nil
}

// Close ends what openLogs began.
func (l logs) Close() error {
	l.shipped()
	return l.file.Close()
}

// isTerminal reports whether a person reads a stream.
func isTerminal(stream io.Writer) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// announce says that the bot is ready, and where: on a terminal with a link that lets one browser in, and opens
// it; elsewhere as a log line without a secret.
func announce(ctx context.Context, out io.Writer, h *host.Host, logs logs, noOpen bool) {
	if !logs.terminal {
		logs.Info("ready " + h.URL() + "/")
		return
	}
	link := h.LoginLink()
	_, _ = fmt.Fprintf(out, "ready %s\n", link) // a terminal that went away is no reason to stop
	if noOpen {
		return
	}
	if err := browse(ctx, link); err != nil {
		logs.Debug("no browser was opened", "err", err)
	}
}

// browse opens a page in the operator's browser, where there is one.
func browse(ctx context.Context, link string) error {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	if runtime.GOOS != "darwin" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return fmt.Errorf("no display")
	}
	cmd := exec.CommandContext(ctx, opener, link)
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}
