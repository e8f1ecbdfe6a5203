package recorder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/extract"
	"github.com/vc-batch/vc/internal/accounting/spool"
)

// nodePeriod is how often the nodes are compared with their last recorded changes.
const nodePeriod = 10 * time.Second

// NodeRecorder records the changes of the nodes of a cluster.
type NodeRecorder struct {
	// Cache is kept up to date by watches.
	Cache   client.Reader
	Cluster string
	Spool   *spool.Spool
	Storage *Storage
	Log     logr.Logger

	// known holds the last recorded change of each node. It is nil until the database has been read.
	known map[string]accounting.NodeChange
}

// RecordUntilDone records the changes of nodes until ctx is done.
func (r *NodeRecorder) RecordUntilDone(ctx context.Context) {
	for ctx.Err() == nil {
		if err := r.recordChanges(ctx, time.Now()); err != nil && ctx.Err() == nil {
			r.Log.Error(err, "The changes of nodes could not be recorded; trying again", "after", nodePeriod)
		}
		waitFor(ctx, nodePeriod, nil)
	}
}

// recordChanges appends the changes of the nodes since the last call to the spool. While the database cannot be read, the
// earlier changes are unknown, and nothing is recorded.
func (r *NodeRecorder) recordChanges(ctx context.Context, now time.Time) error {
	if r.known == nil {
		if err := r.readKnown(ctx, now); err != nil {
			return err
		}
	}
	var nodes corev1.NodeList
	if err := r.Cache.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	changes := extract.NodeChanges(r.Cluster, r.known, nodes.Items, now)
	if err := r.Spool.Append(accounting.Batch{NodeChanges: changes}); err != nil {
		return err
	}
	for _, change := range changes {
		r.known[change.Node] = change
	}
	return nil
}

// errBehind means that the database does not contain everything that was recorded.
var errBehind = errors.New("the database has not stored the recorded changes yet")

// readKnown reads the last recorded changes from the database.
func (r *NodeRecorder) readKnown(ctx context.Context, now time.Time) error {
	store, isUpToDate, err := r.Storage.UpToDateStore(ctx)
	if err != nil {
		return err
	}
	if !isUpToDate {
		return errBehind
	}
	changes, err := store.NodeChanges(ctx, []string{r.Cluster}, now, time.Time{})
	if err != nil {
		return err
	}
	known := map[string]accounting.NodeChange{}
	for _, change := range changes {
		known[change.Node] = change
	}
	r.known = known
	return nil
}
