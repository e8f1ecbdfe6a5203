//go:build unix

package iostreams

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize sends a signal whenever the size of the terminal changes.
func notifyResize(changes chan<- os.Signal) { signal.Notify(changes, syscall.SIGWINCH) }
