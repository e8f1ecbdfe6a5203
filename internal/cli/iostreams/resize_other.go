//go:build !unix

package iostreams

import "os"

// notifyResize does nothing, because this operating system does not report changes to the terminal size.
func notifyResize(chan<- os.Signal) {}
