//go:build !linux

package skill

import "os"

// swap puts fresh in the place of old.
func swap(fresh, old string) error {
	if err := os.Rename(fresh, old); err == nil {
		return nil
	}
	return swapInTwo(fresh, old)
}
