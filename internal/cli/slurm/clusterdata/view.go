package clusterdata

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

// Wants selects the data to read in addition to the jobs.
type Wants struct {
	// Named lists references to the jobs to read. If it is empty, all jobs are read.
	Named []optionvalue.Job
	// Pods selects the pods of running jobs. Ended also selects pods that have ended, which show how a job ended.
	Pods, Ended bool
	// Groups selects the PodGroups, which contain the reason why a job is waiting.
	Groups bool
	// Facts permits reading from the daemon's caches, which lag slightly behind the API server and whose jobs have no
	// resource versions.
	Facts bool
	// arrays restricts the daemon's list to arrays.
	arrays bool
	// known is true if queues and priorities have already been read.
	known bool
}

// View is the data that was read from the cluster.
type View struct {
	Client     client.WithWatch
	rest       *rest.Config
	namespace  string // empty: all namespaces
	home       string // the namespace of jobs that are referenced by name
	Jobs       []*batchv1alpha1.Job
	groups     map[types.UID]*schedulingv1beta1.PodGroup
	Queues     map[string]*schedulingv1beta1.Queue
	priorities map[string]int64
	byDefault  int64 // the priority of jobs without a priority class
	Pods       map[types.NamespacedName][]*corev1.Pod
	podsRead   bool
	// recordedPods holds the pods of jobs from the accounting database, by the UID of the job. A job with the same name
	// may exist.
	recordedPods map[types.UID][]*corev1.Pod
	// earlier holds earlier attempts from the accounting database, by the UID of the job.
	earlier    map[types.UID][]listrow.Attempt
	arraysOnly bool                             // pods were read for arrays only
	note       func(format string, args ...any) // reports data that the user may not read
}

// getJob adds a job to the view if it exists.
func (v *View) getJob(ctx context.Context, name types.NamespacedName) error {
	job := &batchv1alpha1.Job{}
	if err := v.Client.Get(ctx, name, job); err != nil {
		return client.IgnoreNotFound(err)
	}
	job.ManagedFields = nil
	v.Jobs = append(v.Jobs, job)
	return nil
}

// refersTo reports whether a reference refers to a job. Job numbers are unique in the cluster, but names are resolved
// in only one namespace, so that scancel does not cancel another user's job with the same name.
func (v *View) refersTo(ref optionvalue.Job, job *batchv1alpha1.Job) bool {
	if _, ok := listrow.MatchReference(ref, job); !ok {
		return false
	}
	return ref.ID != 0 || job.Namespace == v.home
}
