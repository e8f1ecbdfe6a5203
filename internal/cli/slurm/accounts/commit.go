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

// Commit carries out the writes of a plan. If another client changed an account in the meantime, it computes the plan
// again. It does not write accounts that the confirmed plan does not write.
func (c *Change) Commit(ctx context.Context, confirmed *sacctmgr.Plan) error {
	permitted := map[string]sacctmgr.Action{}
	for _, w := range confirmed.Writes {
		permitted[w.Account.Name] = w.Action
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
		for _, w := range plan.Writes {
			if permitted[w.Account.Name] != w.Action {
				return usererror.Errorf("run the command again", "account %s was changed by another client at the same time", w.Account.Name)
			}
		}
		for _, w := range plan.Writes {
			if err := c.writeAccount(ctx, w); err != nil {
				plan = nil
				return err
			}
		}
		return nil
	})
}

// isOutdated reports whether a write failed because another client changed the account in the meantime.
func isOutdated(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || cli.IsMissing(err)
}

// writeAccount creates, changes or deletes an account.
func (c *Change) writeAccount(ctx context.Context, w sacctmgr.Write) error {
	to := c.Client
	if c.IsDryRun {
		to = client.NewDryRunClient(to)
	}
	switch w.Action {
	case sacctmgr.Create:
		return to.Create(ctx, w.Account)
	case sacctmgr.Remove:
		return to.Delete(ctx, w.Account, client.Preconditions{UID: &w.Account.UID, ResourceVersion: &w.Account.ResourceVersion})
	}
	return to.Patch(ctx, w.Account, client.MergeFromWithOptions(w.Before, client.MergeFromWithOptimisticLock{}))
}
