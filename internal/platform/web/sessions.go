package web

import (
	"errors"
	"net/http"
	"time"

	"familiar/internal/answer"
)

// listed is how many sessions the list holds, the latest first.
const listed = 200

type summary struct {
	ID     string    `json:"id"`
	Title  string    `json:"title"`
	Active time.Time `json:"activeAt"`
	Busy   bool      `json:"busy"`
}

// list tells the sessions that still have something to read.
func (w *Web) list(rw http.ResponseWriter, r *http.Request) {
	sessions, err := w.sessions(r)
	if err != nil {
		refuse(rw, w.broken("list the sessions", err))
		return
	}
	answer.JSON(rw, http.StatusOK, struct {
		Sessions []summary `json:"sessions"`
	}{sessions})
}

func (w *Web) sessions(r *http.Request) (found []summary, err error) {
	rows, err := w.db.Read().QueryContext(r.Context(), `SELECT id, title, active,
		EXISTS (SELECT 1 FROM web_turns WHERE session = id) FROM web_sessions
		WHERE next > floor ORDER BY active DESC, id LIMIT ?`, listed)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	found = []summary{}
	for rows.Next() {
		var s summary
		var at int64
		if err := rows.Scan(&s.ID, &s.Title, &at, &s.Busy); err != nil {
			return nil, err
		}
		s.Active = time.UnixMilli(at).UTC()
		found = append(found, s)
	}
	return found, rows.Err()
}
