// Package app implements the program vcd. It can be run as is, or with custom policies compiled in:
//
//	func main() { app.Main(app.WithPolicy("licence", licence.New)) }
//
// Package plugin contains the types that such a policy needs.
package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubeconfigs may refer to the login methods of cloud providers

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/daemon"
	"github.com/vc-batch/vc/internal/interrupt"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/usererror"
	"github.com/vc-batch/vc/plugin"
)

// Option extends the program.
type Option func() error

// WithPolicy adds a scheduling policy with the name that enables it in the scheduler's configuration.
func WithPolicy(name string, build plugin.Builder) Option {
	return func() error { return scheduler.Register(name, scheduler.Builder(build)) }
}

// Main runs the program and exits.
func Main(options ...Option) {
	ctx, stop := interrupt.ContextWithSignals(context.Background())
	defer stop()
	if err := runCommand(ctx, options); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		if hint := errorHint(err); hint != "" {
			fmt.Fprintf(os.Stderr, "hint:  %s\n", hint)
		}
		os.Exit(1)
	}
}

func runCommand(ctx context.Context, options []Option) error {
	for _, option := range options {
		if err := option(); err != nil {
			return err
		}
	}
	return NewCommand().ExecuteContext(ctx)
}

func errorHint(err error) string {
	if hint := daemon.HintOfError(err); hint != "" {
		return hint
	}
	if hint := usageHint(err); hint != "" {
		return hint
	}
	return accountingHint(err)
}

// accountingHint returns a hint for an error about the accounting database, or "".
func accountingHint(err error) string {
	var explained *usererror.Error
	switch {
	case errors.As(err, &explained) && explained.Hint != "":
		return explained.Hint
	case errors.Is(err, accounting.ErrNewerSchema):
		return "run the version of vcd that changed the database, or a later one"
	case errors.Is(err, accounting.ErrFull), errors.Is(err, syscall.ENOSPC):
		return "free space on the disk, or keep fewer months with --accounting-keep-months"
	case errors.Is(err, accounting.ErrUnavailable):
		return "check that the database is running, and that this user may connect and write to it"
	case errors.Is(err, accounting.ErrDamagedCopy):
		return "restore another backup, or make this one again with vcd accounting backup"
	}
	return ""
}
