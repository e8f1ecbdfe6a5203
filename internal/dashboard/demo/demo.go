package demo

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/snapshot"
)

// Cluster is the made-up cluster. It supplies snapshots to the dashboard, and implements the dashboard's actions by
// changing its objects. Nothing is scheduled, so a released job stays pending. It may be used concurrently.
type Cluster struct {
	start   time.Time
	changed chan struct{} // has an element if the objects have changed since the last snapshot

	mu      sync.Mutex
	objects []runtime.Object // are replaced by changed copies, because snapshots contain the old ones
	// removedByHold holds the PodGroups and pending pods of held jobs by job, for a release.
	removedByHold map[types.UID][]runtime.Object
}

// User is the user of the demo, and Namespace the namespace in which the user's jobs are.
const (
	User      = "mei"
	Namespace = "nlp"
)

// New returns the cluster. Its clock starts at Now.
func New() *Cluster {
	c := &Cluster{start: time.Now(), changed: make(chan struct{}, 1), objects: NewCluster(), removedByHold: map[types.UID][]runtime.Object{}}
	c.changed <- struct{}{}
	return c
}

// Now returns the current time in the cluster.
func (c *Cluster) Now() time.Time { return Now.Add(time.Since(c.start)) }

// Next waits for a change and returns a snapshot. The first call returns immediately.
func (c *Cluster) Next(ctx context.Context) (*snapshot.Snapshot, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.changed:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	board := snapshot.NewBoard()
	for _, object := range c.objects {
		if err := board.StoreObject(object); err != nil {
			return nil, err
		}
	}
	facts := snapshot.Facts{Cluster: "demo", Policy: "capacity", Usage: Usage(c.objects), Connection: snapshot.Connection{Link: snapshot.LinkLive, Since: Now, Server: "none: all data is made up"}}
	return board.TakeSnapshot(c.Now(), facts), nil
}

// replaceObjects replaces each object by the result of change, which returns the same object, a changed copy, or nil to
// delete it. Then it updates the status of the queues.
func (c *Cluster) replaceObjects(change func(runtime.Object) runtime.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var objects []runtime.Object
	for _, object := range c.objects {
		if object = change(object); object != nil {
			objects = append(objects, object)
		}
	}
	c.objects = FillInStatus(copyObjectsWithStatus(objects))
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// currentObjects returns the objects. The caller must not change them.
func (c *Cluster) currentObjects() []runtime.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.objects)
}
