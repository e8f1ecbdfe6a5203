package daemon

import "errors"

// hinted is an error with a hint for the administrator who started the daemon.
type hinted struct {
	err  error
	hint string
}

func (h *hinted) Error() string { return h.err.Error() }

func (h *hinted) Unwrap() error { return h.err }

// withHint adds a hint to an error.
func withHint(err error, hint string) error { return &hinted{err: err, hint: hint} }

// HintOfError returns the hint in an error that Run returned, or "".
func HintOfError(err error) string {
	var h *hinted
	if errors.As(err, &h) {
		return h.hint
	}
	return ""
}
