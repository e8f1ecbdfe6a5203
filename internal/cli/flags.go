package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/usererror"
)

// DryRun holds --dry-run: none, client or server.
type DryRun struct{ Mode string }

// AddFlag adds --dry-run.
func (d *DryRun) AddFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.Mode, "dry-run", "none", "none, client (send nothing) or server (the server checks the request but stores nothing)")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = "client"
	_ = cmd.RegisterFlagCompletionFunc("dry-run", CompleteValues("none", "client", "server"))
}

// Validate rejects an unknown mode.
func (d *DryRun) Validate() error {
	switch d.Mode {
	case "none", "client", "server", "":
		return nil
	}
	return usererror.Errorf("use none, client or server", "--dry-run: unknown value %q", d.Mode)
}

// IsClient reports whether nothing is to be sent to the server.
func (d *DryRun) IsClient() bool { return d.Mode == "client" }

// IsServer reports whether the server validates the request but stores nothing.
func (d *DryRun) IsServer() bool { return d.Mode == "server" }

// IsDryRun reports whether this is a dry run, of either kind.
func (d *DryRun) IsDryRun() bool { return d.IsClient() || d.IsServer() }

// MessageSuffix returns the end of a success message.
func (d *DryRun) MessageSuffix() string {
	switch {
	case d.IsClient():
		return " (dry run)"
	case d.IsServer():
		return " (server dry run)"
	}
	return ""
}

// CreateOptions returns the options for create requests.
func (d *DryRun) CreateOptions() []client.CreateOption {
	if d.IsServer() {
		return []client.CreateOption{client.DryRunAll}
	}
	return nil
}

// PatchOptions returns the options for patch requests.
func (d *DryRun) PatchOptions() []client.PatchOption {
	if d.IsServer() {
		return []client.PatchOption{client.DryRunAll}
	}
	return nil
}

// DeleteOptions returns the options for delete requests.
func (d *DryRun) DeleteOptions() []client.DeleteOption {
	if d.IsServer() {
		return []client.DeleteOption{client.DryRunAll}
	}
	return nil
}

// Wait holds --wait and --timeout.
type Wait struct {
	Wait    bool
	Timeout time.Duration
}

// AddFlags adds --wait and --timeout.
func (w *Wait) AddFlags(cmd *cobra.Command, byDefault bool, usage string) {
	cmd.Flags().BoolVar(&w.Wait, "wait", byDefault, usage)
	cmd.Flags().DurationVar(&w.Timeout, "timeout", 0, "Maximum time to wait, for example 10m (0 = no limit)")
	AddCheck(cmd, func(cmd *cobra.Command, _ []string) error {
		if !w.Wait && IsFlagSet(cmd, "timeout") && !IsFlagSet(cmd, "attach") {
			return usererror.Errorf("add --wait, or remove --timeout", "--timeout has no effect without --wait")
		}
		return nil
	})
	WarnIneffective(cmd, "a dry run makes no changes to wait for", "dry-run", "wait", "timeout", "attach")
}

// LimitContext returns a context for the wait. The context is done after --timeout, if --timeout was given.
func (w *Wait) LimitContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, w.Timeout)
}

// TimeoutError returns the error for a wait that was ended by its timeout.
func (w *Wait) TimeoutError(what, state string) *usererror.Error {
	return &usererror.Error{What: fmt.Sprintf("timed out waiting for %s after %s: %s", what, w.Timeout, state), Hint: "the operation continues; raise --timeout to wait longer", Code: ExitPending}
}
