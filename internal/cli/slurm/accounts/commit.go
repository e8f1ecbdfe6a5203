package accounts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/sacctmgr"
	"github.com/vc-batch/vc/internal/usererror"
)

// timeToDecide is the time that a user has to confirm changes, as in Slurm.
const timeToDecide = 30 * time.Second

// confirmChanges asks the user to confirm the printed changes. Any answer but y discards them.
func confirmChanges(ctx context.Context, f *cli.Factory) error {
	out := f.Streams.Out
	fmt.Fprint(out, "Would you like to commit changes? (You have 30 seconds to decide)\n(N/y): ")
	limited, cancel := context.WithTimeout(ctx, timeToDecide)
	defer cancel()
	answer, err := cli.ReadLine(limited, f.Streams.In)
	isUnanswered := errors.Is(err, io.EOF) && answer == ""
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(out)
		return ctx.Err()
	case isUnanswered && !f.Streams.InTTY:
		fmt.Fprintln(out)
		return usererror.Errorf("add -i to change accounts without asking", "the standard input is not a terminal: nothing was changed")
	}
	if !strings.HasSuffix(answer, "\n") || !f.Streams.InTTY {
		fmt.Fprintln(out)
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
		return nil
	}
	fmt.Fprintln(out, " Changes Discarded")
	return cli.ExitStatus(cli.ExitCancelled)
}

// Change is a change of accounts by a command.
type Change struct {
	Client client.Client
	// Compute returns the plan for the current accounts.
	Compute func() (*sacctmgr.Plan, error)
	// Lost is the error if nothing is left to change when another client has changed the accounts. nil means that this is
	// no error.
	Lost error
	// IsDryRun is true if the API server checks the writes but stores nothing.
	IsDryRun bool
}

// Commit carries out the writes of a plan. If another client changed an object in the meantime, it computes the plan
// again. It does not write objects that the confirmed plan does not write.
func (c *Change) Commit(ctx context.Context, confirmed *sacctmgr.Plan) error {
	permitted := map[string]sacctmgr.Action{}
	for _, w := range writesOf(confirmed) {
		permitted[w.name] = w.action
	}
	plan := confirmed
	return retry.OnError(retry.DefaultRetry, isOutdated, func() error {
		if plan == nil {
			var err error
			if plan, err = c.Compute(); err != nil {
				return err
			}
			if plan.IsEmpty && c.Lost != nil {
				return c.Lost
			}
		}
		writes := writesOf(plan)
		for _, w := range writes {
			if permitted[w.name] != w.action {
				return usererror.Errorf("run the command again", "%s was changed by another client at the same time", w.name)
			}
		}
		for _, w := range writes {
			if err := c.writeObject(ctx, w); err != nil {
				plan = nil
				return err
			}
		}
		return nil
	})
}

// write is a change of an account or a QOS. The name includes the kind.
type write struct {
	name           string
	action         sacctmgr.Action
	object, before client.Object
}

// writesOf returns the writes of a plan, in order.
func writesOf(plan *sacctmgr.Plan) []write {
	writes := make([]write, 0, len(plan.Writes)+len(plan.QOSWrites))
	for _, w := range plan.Writes {
		writes = append(writes, write{"account " + w.Account.Name, w.Action, w.Account, w.Before})
	}
	for _, w := range plan.QOSWrites {
		writes = append(writes, write{"qos " + w.QOS.Name, w.Action, w.QOS, w.Before})
	}
	return writes
}

// isOutdated reports whether a write failed because another client changed the account in the meantime.
func isOutdated(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || cli.IsMissing(err)
}

// writeObject creates, changes or deletes an account or a QOS.
func (c *Change) writeObject(ctx context.Context, w write) error {
	to := c.Client
	if c.IsDryRun {
		to = client.NewDryRunClient(to)
	}
	switch w.action {
	case sacctmgr.Create:
		return to.Create(ctx, w.object)
	case sacctmgr.Remove:
		uid, version := w.object.GetUID(), w.object.GetResourceVersion()
		return to.Delete(ctx, w.object, client.Preconditions{UID: &uid, ResourceVersion: &version})
	}
	return to.Patch(ctx, w.object, client.MergeFromWithOptions(w.before, client.MergeFromWithOptimisticLock{}))
}
