//go:build !unix

package iostreams

import "os"

// notifyResize does nothing: this system does not say when a terminal changes its size.
func notifyResize(chan<- os.Signal) {}
