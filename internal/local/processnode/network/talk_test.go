package network

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

// talk listens in one pod and connects to it from the thread's network namespace.
func talk(server sandbox.Namespaces, address netip.Addr) error {
	var listener net.Listener
	err := server.Enter(func() (err error) {
		listener, err = net.Listen("tcp4", address.String()+":22")
		return err
	})
	if err != nil {
		return err
	}
	defer listener.Close()
	go func() {
		if connection, err := listener.Accept(); err == nil {
			_, _ = io.WriteString(connection, "hello")
			_ = connection.Close()
		}
	}()
	connection, err := net.DialTimeout("tcp4", address.String()+":22", 5*time.Second)
	if err != nil {
		return err
	}
	defer connection.Close()
	text, err := io.ReadAll(connection)
	if err == nil && string(text) != "hello" {
		err = fmt.Errorf("got %q", text)
	}
	return err
}
