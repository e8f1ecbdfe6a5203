package screen

import (
	"context"
	"io"

	"github.com/vc-batch/vc/internal/account"
	"github.com/vc-batch/vc/internal/snapshot"
)

// Actions is all that the dashboard can do to a cluster, and what it fetches beyond
// what is watched. Each call blocks: it belongs into a Run. What is said is a
// sentence for the frame: "2 jobs are to be cancelled". Said and an error together
// are the two halves of what half succeeded.
type Actions interface {
	// Jobs does a verb to jobs: Suspend, Resume, Requeue, Hold, Release, Cancel, Delete.
	Jobs(ctx context.Context, verb Verb, jobs []*snapshot.Job) (said string, err error)
	// Queue opens or closes a queue.
	Queue(ctx context.Context, verb Verb, queue string) (said string, err error)
	// EditQueue changes a queue's limits: what is given replaces what was.
	EditQueue(ctx context.Context, queue string, edit QueueEdit) (said string, err error)
	// Node cordons, uncordons or drains a node.
	Node(ctx context.Context, verb Verb, node string) (said string, err error)
	// Manifest is an object as YAML; kind is Job, Queue, Node or Pod.
	Manifest(ctx context.Context, kind, namespace, name string) (string, error)
	// Sheet is all that is told about a job and that nobody watches for all jobs: its pods whole, and every event about it, its PodGroup and
	// its pods. nil is that there is nothing beyond what is watched.
	Sheet(ctx context.Context, job *snapshot.Job) (*account.Sheet, error)
	// Attach gives the terminal to a pod: a shell in it.
	Attach(ctx context.Context, pod PodRef, in io.Reader, out, errOut io.Writer) error
}

// Verb is something that is done to jobs, queues or nodes.
type Verb string

// The verbs.
const (
	Suspend  Verb = "suspend"
	Resume   Verb = "resume"
	Requeue  Verb = "requeue"
	Hold     Verb = "hold"
	Release  Verb = "release"
	Cancel   Verb = "cancel"
	Delete   Verb = "delete"
	OpenIt   Verb = "open"
	CloseIt  Verb = "close"
	Cordon   Verb = "cordon"
	Uncordon Verb = "uncordon"
	Drain    Verb = "drain"
)

// QueueEdit is what can be changed of a queue; "" leaves it as it is. Amounts are
// written as on the command line: cpu=8,nvidia.com/gpu=4.
type QueueEdit struct {
	Weight                          string
	Capability, Deserved, Guarantee string
}
