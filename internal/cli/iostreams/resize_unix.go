//go:build unix

package iostreams

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize sends a signal to changes whenever the terminal size changes.
func notifyResize(changes chan<- os.Signal) { signal.Notify(changes, syscall.SIGWINCH) }
