package daemon

import "errors"

// hinted is an error with advice for the person who started the daemon.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }

func (h *hinted) Unwrap() error { return h.err }

// withHint adds advice to an error.
func withHint(err error, hint string) error { return &hinted{err: err, hint: hint} }

// Hint is the advice that comes with an error of Run; empty when there is none.
func Hint(err error) string {
	var h *hinted
	if errors.As(err, &h) {
		return h.hint
	}
	return ""
}
