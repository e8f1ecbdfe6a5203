package tuitest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/dashboard/demo"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// Recorder implements screenapi.Actions. It only records the calls.
type Recorder struct {
	mu sync.Mutex
	// Asked has one line per call.
	Asked []string
	// Err is the error that every call returns; nil means success.
	Err error
	// Seen is the world to read from. If nil, nothing can be read.
	Seen *snapshot.Snapshot
	// SheetErr is the error of Sheet.
	SheetErr error
}

var _ screenapi.Actions = (*Recorder)(nil)

func (r *Recorder) recordCall(format string, args ...any) (string, error) {
	text := fmt.Sprintf(format, args...)
	r.mu.Lock()
	r.Asked = append(r.Asked, text)
	r.mu.Unlock()
	if r.Err != nil {
		return "", r.Err
	}
	return "done: " + text, nil
}

// Jobs records a verb and the jobs.
func (r *Recorder) Jobs(_ context.Context, verb screenapi.Verb, jobs []*snapshot.Job) (string, error) {
	var all []string
	for _, job := range jobs {
		all = append(all, job.Namespace+"/"+job.Name)
	}
	return r.recordCall("%s %s", verb, strings.Join(all, ", "))
}

// Priority records the class and the jobs.
func (r *Recorder) Priority(_ context.Context, class string, jobs []*snapshot.Job) (string, error) {
	var all []string
	for _, job := range jobs {
		all = append(all, job.Namespace+"/"+job.Name)
	}
	return r.recordCall("priority class %q for %s", class, strings.Join(all, ", "))
}

// Queue records a verb and the queue.
func (r *Recorder) Queue(_ context.Context, verb screenapi.Verb, queue string) (string, error) {
	return r.recordCall("%s queue %s", verb, queue)
}

// EditQueue records the changes.
func (r *Recorder) EditQueue(_ context.Context, queue string, edit screenapi.QueueEdit) (string, error) {
	return r.recordCall("edit queue %s: %+v", queue, edit)
}

// Node records a verb and the node.
func (r *Recorder) Node(_ context.Context, verb screenapi.Verb, node string) (string, error) {
	return r.recordCall("%s node %s", verb, node)
}

// Manifest returns the complete object for a job of the world, and a short text for other objects.
func (r *Recorder) Manifest(_ context.Context, kind, namespace, name string) (string, error) {
	_, err := r.recordCall("manifest %s %s/%s", kind, namespace, name)
	if err == nil {
		err = r.connectionError()
	}
	if kind == "Job" && r.Seen != nil && err == nil {
		for _, job := range r.Seen.Jobs {
			if job.Namespace == namespace && job.Name == name {
				object := job.Object.DeepCopy()
				object.SetGroupVersionKind(batchv1alpha1.GroupVersion.WithKind(kind))
				text, err := yaml.Marshal(object)
				return string(text), err
			}
		}
	}
	return fmt.Sprintf("kind: %s\nmetadata:\n  name: %s\n  namespace: %s\n", kind, name, namespace), err
}

// Describe returns a short text.
func (r *Recorder) Describe(_ context.Context, kind, namespace, name string) (string, error) {
	_, err := r.recordCall("describe %s %s/%s", kind, namespace, name)
	if err == nil {
		err = r.connectionError()
	}
	return fmt.Sprintf("Name:         %s\nNamespace:    %s\nKind:         %s\nEvents:       <none>\n", name, namespace, kind), err
}

// Sheet returns the world's details of a job, or nil without a world.
func (r *Recorder) Sheet(_ context.Context, job *snapshot.Job) (*jobstatus.Sheet, error) {
	if err := cmp.Or(r.SheetErr, r.connectionError()); err != nil || r.Seen == nil {
		return nil, err
	}
	return demo.NewJobSheet(job, wholePods(r.Seen, job.UID)), nil
}

// connectionError returns the error of a disconnected world.
func (r *Recorder) connectionError() error {
	if r.Seen == nil || r.Seen.Connection.Link != snapshot.LinkDisconnected {
		return nil
	}
	return errors.New(r.Seen.Connection.Problem)
}

// EditJob records the job.
func (r *Recorder) EditJob(_ context.Context, job *snapshot.Job, _ io.Reader, _, _ io.Writer) (string, error) {
	return r.recordCall("edit %s/%s", job.Namespace, job.Name)
}

// EditQueueObject records the queue.
func (r *Recorder) EditQueueObject(_ context.Context, queue string, _ io.Reader, _, _ io.Writer) (string, error) {
	return r.recordCall("edit queue %s in an editor", queue)
}

// Attach records the pod.
func (r *Recorder) Attach(_ context.Context, pod screenapi.PodRef, _ io.Reader, _, _ io.Writer) error {
	_, err := r.recordCall("attach %s/%s", pod.Namespace, pod.Name)
	return err
}
