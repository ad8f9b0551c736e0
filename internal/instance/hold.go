package instance

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// Hold takes a folder for one process that lies outside its own directory, such as data that the configuration keeps
// elsewhere: two instances must not write the same files. Closing it, or the end of the process, lets go.
func Hold(dir string) (io.Closer, error) {
	folder, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("hold %s: %w", dir, err)
	}
	err = syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another bot keeps its data there; give each its own workspace.repoPath")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hold %s: %w", dir, err), folder.Close())
	}
	return folder, nil
}
