package dashboard

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/change"
	"github.com/vc-batch/vc/internal/cli/queue"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/usererror"
)

// hands carries out the actions for the dashboard's keys, and returns the same messages as the command line.
type hands struct {
	f       *cli.Factory
	cluster *clusterops.Cluster

	mu     sync.Mutex
	readOf types.UID // the job whose Sheet was read last
	readAt time.Time // when it was read
}

var _ screenapi.Actions = (*hands)(nil)

func newHands(f *cli.Factory) (*hands, error) {
	client, err := f.Client()
	if err != nil {
		return nil, err
	}
	typed, err := f.Clientset()
	if err != nil {
		return nil, err
	}
	config, err := f.RESTConfig()
	if err != nil {
		return nil, err
	}
	return &hands{f: f, cluster: &clusterops.Cluster{Client: client, Typed: typed, Config: withoutOutput(config), Now: f.Now}}, nil
}

var jobVerbs = map[screenapi.Verb]*clusterops.Verb{
	screenapi.Suspend: clusterops.Suspend, screenapi.Resume: clusterops.Resume, screenapi.Requeue: clusterops.Restart, screenapi.Hold: clusterops.Hold, screenapi.Release: clusterops.Release,
	screenapi.Cancel: clusterops.Cancel, screenapi.Delete: clusterops.Delete,
}

// Jobs applies an action to jobs.
func (h *hands) Jobs(ctx context.Context, verb screenapi.Verb, jobs []*snapshot.Job) (string, error) {
	v := jobVerbs[verb]
	if v == nil {
		return "", fmt.Errorf("%s is not a valid action for jobs", verb)
	}
	said, err := h.cluster.ApplyToJobs(ctx, v, objectsOfJobs(jobs))
	return said, h.toUserError(err)
}

// Priority gives jobs another priority class.
func (h *hands) Priority(ctx context.Context, class string, jobs []*snapshot.Job) (string, error) {
	said, err := h.cluster.SetPriorityClass(ctx, class, objectsOfJobs(jobs))
	return said, h.toUserError(err)
}

func objectsOfJobs(jobs []*snapshot.Job) []*batchv1alpha1.Job {
	objects := make([]*batchv1alpha1.Job, len(jobs))
	for i, job := range jobs {
		objects[i] = job.Object
	}
	return objects
}

// Queue opens or closes a queue.
func (h *hands) Queue(ctx context.Context, verb screenapi.Verb, queue string) (string, error) {
	said, err := h.cluster.SwitchQueue(ctx, queue, verb == screenapi.OpenIt)
	return said, h.toUserError(err)
}

// EditQueue changes a queue's limits.
func (h *hands) EditQueue(ctx context.Context, queue string, edit screenapi.QueueEdit) (string, error) {
	said, err := h.cluster.EditQueue(ctx, queue, clusterops.QueueEdit(edit))
	return said, h.toUserError(err)
}

// Node cordons, uncordons or drains a node.
func (h *hands) Node(ctx context.Context, verb screenapi.Verb, node string) (said string, err error) {
	if verb == screenapi.Drain {
		said, err = h.cluster.CordonAndDrain(ctx, node)
	} else {
		said, err = h.cluster.SetCordoned(ctx, node, verb == screenapi.Cordon)
	}
	return said, h.toUserError(err)
}

// Manifest returns an object as YAML.
func (h *hands) Manifest(ctx context.Context, kind, namespace, name string) (string, error) {
	text, err := h.cluster.ReadManifest(ctx, kind, namespace, name)
	return text, h.toUserError(err)
}

// Describe returns a description of an object and its events.
func (h *hands) Describe(ctx context.Context, kind, namespace, name string) (string, error) {
	text, err := h.cluster.Describe(ctx, kind, namespace, name)
	return text, h.toUserError(err)
}

// readAfter is the delay between a request for a Sheet and the read. Related changes usually arrive within this time,
// so that one read covers several of them.
const readAfter = 500 * time.Millisecond

// readAgain is the minimum time between two reads of the same job, because a job with a thousand pods changes all the
// time while its pods are starting. readWithin is the timeout for one read.
const (
	readAgain  = 5 * time.Second
	readWithin = 10 * time.Second
)

// Sheet returns all details of a job: the complete job, its PodGroup, pods and events.
func (h *hands) Sheet(ctx context.Context, job *snapshot.Job) (*jobstatus.Sheet, error) {
	if err := sleepContext(ctx, h.delayBeforeRead(job.UID)); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, readWithin)
	defer stop()
	known := make([]types.UID, len(job.Pods))
	for i, pod := range job.Pods {
		known[i] = pod.UID
	}
	sheet, err := h.cluster.ReadJobSheet(ctx, job.Namespace, job.Name, known...)
	if err == nil && sheet.Job.UID != job.UID {
		return nil, fmt.Errorf("job %s/%s was replaced by another job with this name", job.Namespace, job.Name)
	}
	return sheet, h.toUserError(err)
}

// delayBeforeRead returns the delay before the next read of a job and records when that read starts.
func (h *hands) delayBeforeRead(uid types.UID) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	pause := readAfter
	if h.readOf == uid {
		pause = max(pause, time.Until(h.readAt.Add(readAgain)))
	}
	h.readOf, h.readAt = uid, time.Now().Add(pause)
	return pause
}

func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// EditJob opens a job in the user's editor, as vcctl job edit does. The editor uses the process's own terminal.
func (h *hands) EditJob(ctx context.Context, job *snapshot.Job, _ io.Reader, _, _ io.Writer) (said string, err error) {
	said, err = change.EditJob(ctx, h.f, h.cluster.Client, client.ObjectKeyFromObject(job.Object))
	return said, h.toUserError(err)
}

// EditQueueObject opens a queue in the user's editor, as vcctl queue edit does. The editor uses the process's own
// terminal.
func (h *hands) EditQueueObject(ctx context.Context, name string, _ io.Reader, _, _ io.Writer) (said string, err error) {
	said, err = queue.EditQueue(ctx, h.f, h.cluster.Client, name)
	return said, h.toUserError(err)
}

// shell is the command that runs in a container: bash if the container has it, otherwise sh.
var shell = []string{"sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash; exec sh"}

// Attach connects the terminal to a shell in a pod.
func (h *hands) Attach(ctx context.Context, pod screenapi.PodRef, in io.Reader, out, errOut io.Writer) error {
	fmt.Fprintf(errOut, "shell in %s/%s; type exit or press Ctrl-D to leave the shell\n", pod.Namespace, pod.Name)
	restore, sizes := h.f.Streams.EnterRawMode(ctx)
	defer restore()
	keys, done := openKeyboard(in)
	defer done()
	return h.toUserError(h.cluster.ConnectShell(ctx, clusterops.Shell{Namespace: pod.Namespace, Pod: pod.Name, Container: pod.Container, Command: shell, In: keys, Out: out, Sizes: sizes}))
}

// toUserError returns an error with the same text as on the command line. If there are several errors, it returns the
// first one and the number of the others.
func (h *hands) toUserError(err error) error {
	if err == nil {
		return nil
	}
	all := usererror.Flatten(err)
	told := *cli.HumanizeError(all[0], h.f.DescribeConnection())
	if len(all) > 1 {
		told.What += fmt.Sprintf(" (and %d more)", len(all)-1)
	}
	return &told
}
