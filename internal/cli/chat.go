package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"familiar/internal/control"
	"familiar/internal/instance"
	"familiar/internal/phrase"
	"familiar/internal/terminal"
)

// chatFlags are the flags of chat.
type chatFlags struct {
	reachFlags
	session string
	fresh   bool
}

func chatCommand() *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chat [ID]",
		Short: "Chat with a running bot in the terminal, as its owner",
		Long: "Chat with a running bot in the terminal, as its owner. In a terminal it goes on with the latest conversation;\n" +
			"--new starts one, --session picks one. Fed from a pipe it starts a new one, sends each line, and prints the\n" +
			"replies as the bot wrote them; a line that ends with \\ goes on with the next.\n" +
			"Enter sends, Alt+Enter breaks the line, / lists the bot's commands and Tab completes them, Ctrl-C stops the\n" +
			"running turn, and once more, or Ctrl-D, leaves. What you wrote before comes back with the up key; lines that\n" +
			"begin with a space or look like a secret are not kept.",
		Example: "  familiar chat\n  familiar chat --new\n  echo \"What do you remember about me?\" | familiar chat",
		Args:    takes("[ID]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.id = args
			return converse(cmd, f)
		},
	}
	f.declare(cmd)
	cmd.Flags().StringVar(&f.session, "session", "", "go on in this session")
	cmd.Flags().BoolVar(&f.fresh, "new", false, "start a new session")
	return cmd
}

// askTime is how long the bot may take to say who it is.
const askTime = 15 * time.Second

// converse picks the face of the chat: a screen where a person sits at one, else lines.
func converse(cmd *cobra.Command, f chatFlags) error {
	if f.session != "" && f.fresh {
		return wrongUse(cmd, "--session and --new: choose one of them")
	}
	link := &chatLink{find: f.reach}
	in, isFile := cmd.InOrStdin().(*os.File)
	out, outIsFile := cmd.OutOrStdout().(*os.File)
	if !isFile || !outIsFile || !terminal.IsTerminal(in) || !terminal.IsTerminal(out) {
		return chatPlainly(cmd, link, plainChat{in: cmd.InOrStdin(), out: cmd.OutOrStdout(), errs: cmd.ErrOrStderr(), session: f.session})
	}
	start, err := f.begin(cmd.Context(), link)
	if err != nil {
		return err
	}
	if kind := os.Getenv("TERM"); kind == "" || kind == "dumb" {
		return chatPlainly(cmd, link, plainChat{in: in, out: out, errs: cmd.ErrOrStderr(), session: start.session.ID, prompt: "> "})
	}
	start.colors = os.Getenv("NO_COLOR") == ""
	start.diary = f.diary()
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	tty, err := terminal.Open(in, out)
	if err != nil {
		return err
	}
	tty.Guard(func() { err = newChatScreen(tty, out, link, start).run(ctx) })
	if closed := tty.Close(); err == nil && closed != nil {
		return fmt.Errorf("give the terminal back: %w", closed)
	}
	return err
}

// chatStart is what a chat begins with.
type chatStart struct {
	state   control.State
	session control.Session // without an id: a new one
	book    phrase.Book
	colors  bool
	diary   diary
}

// begin asks the bot who it is, and picks the conversation.
func (f *chatFlags) begin(ctx context.Context, link *chatLink) (start chatStart, err error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	bot, err := link.bot()
	if err != nil {
		return start, err
	}
	if start.state, err = bot.State(ctx); err != nil {
		return start, err
	}
	if start.book, err = phrase.In(start.state.Bot.Language); err != nil {
		if start.book, err = phrase.In(phrase.Languages()[0]); err != nil {
			return start, err
		}
	}
	start.session.ID = f.session
	if f.session != "" || f.fresh {
		return start, nil
	}
	known, err := bot.Sessions(ctx)
	if err == nil && len(known) > 0 {
		start.session = known[0]
	}
	return start, err
}

// diary keeps what the owner wrote, beside the bot. The zero diary keeps nothing: the bot is on another machine.
type diary struct {
	instance.Instance
	on bool
}

func (f *chatFlags) diary() diary {
	if f.remote() {
		return diary{}
	}
	inst, err := f.instance()
	return diary{inst, err == nil}
}

func (d diary) read() *terminal.History {
	if !d.on {
		return terminal.ReadHistory("")
	}
	return terminal.ReadHistory(d.ReadChat())
}

func (d diary) write(h *terminal.History) error {
	if !d.on {
		return nil
	}
	return d.WriteChat(h.Text())
}
