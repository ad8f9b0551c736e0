package instance

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"familiar/internal/secret"
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
	if err := writeWhole(i.tokenFile(), text+"\n"); err != nil {
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

// writeWhole makes a file that is there whole or not at all.
func writeWhole(path, text string) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	_, err = temp.WriteString(text)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
