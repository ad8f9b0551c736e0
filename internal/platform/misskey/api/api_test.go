package api

import (
	"testing"

	"go.uber.org/goleak"

	"familiar/internal/platform/misskey/misskeytest"
	"familiar/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client makes a client of a fake instance, which must have nothing to complain of at the end.
func client(t *testing.T) (*Client, *misskeytest.Instance) {
	t.Helper()
	in := misskeytest.Start()
	c := New("http://"+in.Host(), secret.New(misskeytest.Token))
	t.Cleanup(func() {
		c.CloseIdle()
		in.Close()
		for _, fault := range in.Faults() {
			t.Errorf("the instance complains: %s", fault)
		}
	})
	return c, in
}
