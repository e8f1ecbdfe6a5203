package clusterops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/usererror"
)

// Cluster carries out actions in a cluster.
type Cluster struct {
	Client client.Client
	// Typed and Config are for requests that a Client does not support: logs, evictions, shells.
	Typed  kubernetes.Interface
	Config *rest.Config
	// Now returns the current time.
	Now func() time.Time
}

// atOnce is the maximum number of writes in progress.
const atOnce = 8

// ApplyToJobs applies a verb to jobs, and describes how many of them it changed. A failure for one job does not stop
// the others; the error contains all failures.
func (c *Cluster) ApplyToJobs(ctx context.Context, v *Verb, jobs []*batchv1alpha1.Job) (said string, err error) {
	done, idle, err := changeJobs(jobs, func(job *batchv1alpha1.Job) (already string, err error) { return c.ApplyToJob(ctx, v, job) })
	return describeResult(v, done, idle), err
}

// changeJobs calls change for each job, for several at once. It returns the changed jobs, and a sentence for each job for
// which there was nothing to do. The error contains all failures.
func changeJobs(jobs []*batchv1alpha1.Job, change func(*batchv1alpha1.Job) (already string, err error)) (done []*batchv1alpha1.Job, idle []string, err error) {
	var (
		problems []error
		running  sync.WaitGroup
	)
	ends := make([]struct {
		already string
		err     error
	}, len(jobs))
	slots := make(chan struct{}, atOnce)
	for i, job := range jobs {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			ends[i].already, ends[i].err = change(job)
		})
	}
	running.Wait()
	for i, job := range jobs {
		switch end := ends[i]; {
		case end.err != nil:
			problems = append(problems, end.err)
		case end.already != "":
			idle = append(idle, job.Name+" "+end.already)
		default:
			done = append(done, job)
		}
	}
	return done, idle, errors.Join(problems...)
}

// describeResult describes the result: "2 jobs are to be cancelled; a is not suspended".
func describeResult(v *Verb, done []*batchv1alpha1.Job, idle []string) string {
	var parts []string
	switch len(done) {
	case 0:
	case 1:
		parts = append(parts, fmt.Sprintf("job %s/%s %s", done[0].Namespace, done[0].Name, v.ResultText(false)))
	default:
		parts = append(parts, fmt.Sprintf("%d jobs %s", len(done), v.ResultText(true)))
	}
	switch {
	case len(idle) == 1:
		parts = append(parts, idle[0])
	case len(idle) > 1:
		parts = append(parts, fmt.Sprintf("nothing to do for %d jobs: %s, …", len(idle), idle[0]))
	}
	return strings.Join(parts, "; ")
}

// ApplyToJob applies a verb to a job. already is not empty if there was nothing to do. The error is a
// *usererror.Error if the action is not possible. The job may be out of date, for example if it was changed a moment
// ago: before ApplyToJob rejects the verb, it reads the job again.
func (c *Cluster) ApplyToJob(ctx context.Context, v *Verb, job *batchv1alpha1.Job) (already string, err error) {
	refused, already := v.CheckApplicable(job)
	if refused != "" || already != "" {
		if job, err = c.readCurrentJob(ctx, job); err != nil {
			return "", err
		}
		if refused, already, err = CheckWithCommands(ctx, c.Client, v, job); err != nil {
			return "", err
		}
	}
	if refused != "" {
		return "", usererror.Errorf("", "job %q: %s", job.Name, refused)
	}
	if already != "" {
		return already, nil
	}
	return "", c.performVerb(ctx, v, job)
}

// CheckWithCommands is like Verb.CheckApplicable, but also considers the Commands for the job that have not been carried
// out yet. If there is one, already is "", because the phase of the job does not show whether there is something to do: a
// job that runs may be about to be suspended.
func CheckWithCommands(ctx context.Context, c client.Reader, v *Verb, job *batchv1alpha1.Job) (refused, already string, err error) {
	refused, already = v.CheckApplicable(job)
	if already == "" || v.Action == "" {
		return refused, already, nil
	}
	isChanging, err := hasPendingCommand(ctx, c, job)
	if isChanging {
		already = ""
	}
	return refused, already, err
}

// hasPendingCommand reports whether a Command for a job has not been carried out yet. Users who may not read Commands get
// false.
func hasPendingCommand(ctx context.Context, c client.Reader, job *batchv1alpha1.Job) (bool, error) {
	commands := &busv1alpha1.CommandList{}
	if err := c.List(ctx, commands, client.InNamespace(job.Namespace)); err != nil {
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return false, err
	}
	return slices.ContainsFunc(commands.Items, func(c busv1alpha1.Command) bool {
		return c.TargetObject != nil && c.TargetObject.UID == job.UID
	}), nil
}

// readCurrentJob reads a job again. It returns the same job if it was deleted, or replaced by another with its name.
func (c *Cluster) readCurrentJob(ctx context.Context, job *batchv1alpha1.Job) (*batchv1alpha1.Job, error) {
	current := &batchv1alpha1.Job{}
	err := c.Client.Get(ctx, client.ObjectKeyFromObject(job), current)
	switch {
	case apierrors.IsNotFound(err), err == nil && current.UID != job.UID:
		return job, nil
	case err != nil:
		return nil, err
	}
	return current, nil
}

func (c *Cluster) performVerb(ctx context.Context, v *Verb, job *batchv1alpha1.Job) error {
	switch {
	case v.Action != "":
		return c.Client.Create(ctx, JobCommand(job, v.Action))
	case v == Delete:
		target := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
		return c.Client.Delete(ctx, target, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &job.UID})
	}
	target := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	return c.Client.Patch(ctx, target, HoldPatch(v, job))
}

// HoldPatch returns the patch for the verbs Hold, HoldForAdmin and Release.
func HoldPatch(v *Verb, job *batchv1alpha1.Job) client.Patch {
	value := `"` + keys.HoldUser + `"`
	switch v {
	case HoldForAdmin:
		value = `"` + keys.HoldAdmin + `"`
	case Release:
		value = "null"
	}
	return client.RawPatch(mergePatch, fmt.Appendf(nil, `{"metadata":{"uid":%q,"annotations":{%q:%s}}}`, job.UID, keys.Hold, value))
}
