package screenapi

import (
	"context"
	"io"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
)

// Actions holds all operations of the dashboard on a cluster, and requests for data that the snapshot does not
// contain. Each call blocks and must therefore be made in a Run. The returned message is a sentence to show in the
// frame, such as "2 jobs are to be cancelled". A message together with an error means partial success.
type Actions interface {
	// Jobs applies a verb (Suspend, Resume, Requeue, Hold, Release, Cancel or Delete) to jobs.
	Jobs(ctx context.Context, verb Verb, jobs []*snapshot.Job) (said string, err error)
	// Priority gives jobs another priority class; "" means none.
	Priority(ctx context.Context, class string, jobs []*snapshot.Job) (said string, err error)
	// Queue opens or closes a queue.
	Queue(ctx context.Context, verb Verb, queue string) (said string, err error)
	// EditQueue changes a queue's limits. The specified values replace the previous ones.
	EditQueue(ctx context.Context, queue string, edit QueueEdit) (said string, err error)
	// Node cordons, uncordons or drains a node.
	Node(ctx context.Context, verb Verb, node string) (said string, err error)
	// Manifest returns an object as YAML. kind is one of Job, Queue, Node, Pod, PodGroup, CronJob and JobFlow.
	Manifest(ctx context.Context, kind, namespace, name string) (string, error)
	// Describe returns a description of an object and its events, as `kubectl describe` prints it. kind is as for
	// Manifest.
	Describe(ctx context.Context, kind, namespace, name string) (string, error)
	// Sheet returns those details of a job that are not watched for all jobs: its complete pods, and all events about
	// the job, its PodGroup and its pods. A nil result means that there are no additional details.
	Sheet(ctx context.Context, job *snapshot.Job) (*jobstatus.Sheet, error)
	// EditJob opens a job in the user's editor and sends the change, as vcctl job edit does.
	EditJob(ctx context.Context, job *snapshot.Job, in io.Reader, out, errOut io.Writer) (said string, err error)
	// EditQueueObject opens a queue in the user's editor and sends the change, as vcctl queue edit does.
	EditQueueObject(ctx context.Context, queue string, in io.Reader, out, errOut io.Writer) (said string, err error)
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

// QueueEdit describes a change to a queue. An empty value leaves the setting unchanged. Amounts have the format used
// on the command line, for example cpu=8,nvidia.com/gpu=4.
type QueueEdit struct {
	Weight                          string
	Capability, Deserved, Guarantee string
}
