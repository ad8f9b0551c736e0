package misskey

import (
	"errors"

	"familiar/internal/platform"
)

// temporary reports whether an error that was judged may pass.
func temporary(err error) bool {
	var later platform.Temporary
	return errors.As(err, &later)
}

// unsettled reports whether nobody knows what became of something that was judged.
func unsettled(err error) bool {
	var u platform.Uncertain
	return errors.As(err, &u)
}

// settled takes from an error that it may be tried again.
func settled(err error) error {
	var later platform.Temporary
	if errors.As(err, &later) {
		return later.Err
	}
	return err
}
