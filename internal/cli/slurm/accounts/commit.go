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

// change carries out a request that changes accounts.
type change struct {
	request *sacctmgr.Request
	client  client.Client
	// read reads the current accounts.
	read func() (*sacctmgr.Cluster, error)
}

// plan returns the changes for the current accounts.
func (c *change) plan() (*sacctmgr.Plan, error) {
	cluster, err := c.read()
	if err != nil {
		return nil, err
	}
	return c.request.Compute(cluster)
}

// commit carries out the writes of a plan. If another client changed an account in the meantime, it reads the accounts
// and computes the plan again. It does not write accounts that the confirmed plan does not write.
func (c *change) commit(ctx context.Context, confirmed *sacctmgr.Plan) error {
	permitted := map[string]sacctmgr.Action{}
	for _, w := range confirmed.Writes {
		permitted[w.Account.Name] = w.Action
	}
	plan := confirmed
	return retry.OnError(retry.DefaultRetry, isOutdated, func() error {
		if plan == nil {
			var err error
			if plan, err = c.plan(); err != nil {
				return err
			}
			if isLost := plan.IsEmpty && c.request.Verb == sacctmgr.Modify; isLost {
				return usererror.Errorf("list the accounts with sacctmgr show associations", "another client deleted the objects at the same time: nothing was modified")
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
func (c *change) writeAccount(ctx context.Context, w sacctmgr.Write) error {
	switch w.Action {
	case sacctmgr.Create:
		return c.client.Create(ctx, w.Account)
	case sacctmgr.Remove:
		return c.client.Delete(ctx, w.Account, client.Preconditions{UID: &w.Account.UID, ResourceVersion: &w.Account.ResourceVersion})
	}
	return c.client.Patch(ctx, w.Account, client.MergeFromWithOptions(w.Before, client.MergeFromWithOptimisticLock{}))
}
