package instance

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"familiar/internal/secret"
	"familiar/internal/sheet"
)

// tokenBytes is how much chance there is in a token.
const tokenBytes = 32

// Token returns the owner's token, and makes it at the first start: 32 random bytes in hex. The caller holds the
// lock. A file that others can read is closed to them; one that holds no token is an error, never replaced.
func (i Instance) Token() (secret.Value, error) {
	token, err := i.ReadToken()
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	var random [tokenBytes]byte
	_, _ = rand.Read(random[:]) // never fails: crypto/rand ends the program instead
	text := hex.EncodeToString(random[:])
	if err := sheet.Write(i.tokenFile(), []byte(text+"\n")); err != nil {
		return secret.Value{}, fmt.Errorf("make the token: %w", err)
	}
	return secret.New(text), nil
}

// ReadToken returns the token of a bot that was started before.
func (i Instance) ReadToken() (secret.Value, error) {
	file, err := os.OpenFile(i.tokenFile(), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return secret.Value{}, fmt.Errorf("read the token: %w", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	if err := file.Chmod(0o600); err != nil {
		return secret.Value{}, fmt.Errorf("close the token to others: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(file, pidFileMost))
	if err != nil {
		return secret.Value{}, fmt.Errorf("read the token: %w", err)
	}
	if len(strings.TrimSpace(string(text))) < tokenBytes {
		return secret.Value{}, fmt.Errorf("read the token: %s holds none; remove the file, and a new one is made at the next start", i.tokenFile())
	}
	return secret.New(string(text)), nil
}
