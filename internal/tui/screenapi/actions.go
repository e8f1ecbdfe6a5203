package screenapi

import (
	"context"
	"io"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
)

// Actions holds all operations of the dashboard on a cluster, and requests for data beyond the snapshot. Each call
// blocks, so it belongs in a Run. The returned message is a sentence for the frame: "2 jobs are to be cancelled". A
// message together with an error describes a partial success.
type Actions interface {
	// Jobs applies a verb to jobs: Suspend, Resume, Requeue, Hold, Release, Cancel, Delete.
	Jobs(ctx context.Context, verb Verb, jobs []*snapshot.Job) (said string, err error)
	// Queue opens or closes a queue.
	Queue(ctx context.Context, verb Verb, queue string) (said string, err error)
	// EditQueue changes a queue's limits. Given values replace the previous ones.
	EditQueue(ctx context.Context, queue string, edit QueueEdit) (said string, err error)
	// Node cordons, uncordons or drains a node.
	Node(ctx context.Context, verb Verb, node string) (said string, err error)
	// Manifest returns an object as YAML. kind is Job, Queue, Node or Pod.
	Manifest(ctx context.Context, kind, namespace, name string) (string, error)
	// Sheet returns the details of a job that are not watched for all jobs: its complete pods, and all events about it,
	// its PodGroup and its pods. Nil means that there are no additional details.
	Sheet(ctx context.Context, job *snapshot.Job) (*jobstatus.Sheet, error)
	// Attach connects the terminal to a shell in a pod.
	Attach(ctx context.Context, pod PodRef, in io.Reader, out, errOut io.Writer) error
}

// Verb is an action on jobs, queues or nodes.
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

// QueueEdit describes a change of a queue. "" leaves a value unchanged. Amounts are in the command line's format:
// cpu=8,nvidia.com/gpu=4.
type QueueEdit struct {
	Weight                          string
	Capability, Deserved, Guarantee string
}
