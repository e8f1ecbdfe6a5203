// Command vcd is the daemon of the batch system: scheduler, controllers and
// admission, one of them or all in one process.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"github.com/vc-batch/vc/internal/daemon"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		if hint := hintOf(err); hint != "" {
			fmt.Fprintf(os.Stderr, "hint:  %s\n", hint)
		}
		os.Exit(1)
	}
}

func hintOf(err error) string {
	if hint := daemon.Hint(err); hint != "" {
		return hint
	}
	return usageHint(err)
}
