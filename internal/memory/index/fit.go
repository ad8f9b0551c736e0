package index

import (
	"context"
	"database/sql"
	"os"
	"syscall"
)

// Fit is how the index of a database stands to the files that it speaks of. What is behind is caught up, and what does
// not fit is built anew, when somebody asks next.
type Fit struct{ Files, Behind, Stale int }

// FitOf compares without changing anything; at tells where a file is. A database without an index has none.
func FitOf(ctx context.Context, db *sql.DB, at func(File) string) (f Fit, err error) {
	var tables int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'memory_index'`).Scan(&tables); err != nil || tables == 0 {
		return f, err
	}
	rows, err := db.QueryContext(ctx, `SELECT platform, person, file, inode, covered FROM memory_index WHERE state = ?`, good)
	if err != nil {
		return f, err
	}
	return f, scan(rows, func() error {
		var file File
		var inode, covered int64
		if err := rows.Scan(&file.Platform, &file.Person, &file.Name, &inode, &covered); err != nil {
			return err
		}
		f.Files++
		info, err := os.Stat(at(file))
		if err != nil {
			f.Stale++
			return nil //nolint:nilerr // a file that is gone is one that does not fit
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		switch {
		case covered > info.Size(), ok && int64(st.Ino) != inode: //nolint:gosec // as it was written
			f.Stale++
		case covered < info.Size():
			f.Behind++
		}
		return nil
	})
}
