package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/index"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// readPlanInput collects the input of the plan for a job.
func (r *Reconciler) readPlanInput(ctx context.Context, job *batchv1alpha1.Job, known *jobState, now time.Time) (plan.Input, error) {
	in := plan.Input{Job: job, Now: now, Priorities: map[string]int32{}, Trouble: known.trouble, Since: known.since, KeepEnded: r.keep}
	var pods corev1.PodList
	err := r.cache.List(ctx, &pods, client.InNamespace(job.Namespace), client.MatchingFields{index.PodController: string(job.UID)},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return in, fmt.Errorf("pods of job %s: %w", job.Name, err)
	}
	in.Pods = podPointers(pods.Items)
	in.Doubt = r.mayBeOutdated(job, now)
	known.completeInput(&in)
	if in.PodGroup, err = r.findPodGroup(ctx, job, known); err != nil {
		return in, err
	}
	if in.Queue, err = r.findJobQueue(ctx, job); err != nil {
		return in, err
	}
	if err = r.readPriorities(ctx, job, in.Priorities); err != nil {
		return in, err
	}
	if in.PodGroup == nil && !plan.IsEndedOrAborted(job.Status.State.Phase) {
		if in.Claims, err = r.findClaims(ctx, job); err != nil {
			return in, err
		}
	}
	in.Numbers, in.NumbersFrom = r.ids != nil, known.unnumbered
	if in.Numbers && in.PodGroup == nil && !plan.IsEndedOrAborted(job.Status.State.Phase) {
		if in.NumberTaken, err = r.hasTakenNumber(ctx, job); err != nil {
			return in, err
		}
	}
	if in.Related, err = r.relatedJobs(ctx, job); err != nil {
		return in, err
	}
	if in.Awaited, err = r.isStillAwaited(ctx, job); err != nil {
		return in, err
	}
	in.Commands, err = r.readCommands(ctx, job)
	return in, err
}

func podPointers(pods []corev1.Pod) []*corev1.Pod {
	list := make([]*corev1.Pod, len(pods))
	for i := range pods {
		list[i] = &pods[i]
	}
	return list
}

// refreshInput reads the pods and commands from the API server instead of the cache.
func (r *Reconciler) refreshInput(ctx context.Context, in *plan.Input) error {
	var pods corev1.PodList
	if err := r.api.List(ctx, &pods, client.InNamespace(in.Job.Namespace), client.MatchingLabels{keys.JobName: in.Job.Name}); err != nil {
		return fmt.Errorf("pods of job %s: %w", in.Job.Name, err)
	}
	in.Pods = slices.DeleteFunc(podPointers(pods.Items), func(p *corev1.Pod) bool { return !metav1.IsControlledBy(p, in.Job) })
	var err error
	if in.Commands, err = r.readUncachedCommands(ctx, in.Job); err != nil {
		return err
	}
	in.Fresh = true
	return nil
}

// findPodGroup returns the PodGroup of the job, looking for its current name and for the name that older versions used.
func (r *Reconciler) findPodGroup(ctx context.Context, job *batchv1alpha1.Job, known *jobState) (*schedulingv1beta1.PodGroup, error) {
	for _, name := range []string{plan.GroupName(job), job.Name} {
		var group schedulingv1beta1.PodGroup
		err := r.cache.Get(ctx, types.NamespacedName{Namespace: job.Namespace, Name: name}, &group, client.UnsafeDisableDeepCopy)
		switch {
		case apierrors.IsNotFound(err):
			continue
		case err != nil:
			return nil, fmt.Errorf("podgroup %s: %w", name, err)
		case metav1.GetControllerOf(&group) != nil && !metav1.IsControlledBy(&group, job):
			continue
		}
		if group.UID == known.groupGone && group.DeletionTimestamp == nil {
			group.DeletionTimestamp = &metav1.Time{Time: r.now()} // deleted, but the cache does not show it yet
		}
		return &group, nil
	}
	return nil, nil
}

func (r *Reconciler) findJobQueue(ctx context.Context, job *batchv1alpha1.Job) (*schedulingv1beta1.Queue, error) {
	name := job.Spec.Queue
	name = cmp.Or(name, keys.DefaultQueue)
	var queue schedulingv1beta1.Queue
	err := r.cache.Get(ctx, types.NamespacedName{Name: name}, &queue, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("queue %s: %w", name, err)
	}
	return &queue, nil
}

// readPriorities reads the values of the tasks' PriorityClasses. A missing class has the value 0.
func (r *Reconciler) readPriorities(ctx context.Context, job *batchv1alpha1.Job, values map[string]int32) error {
	for i := range job.Spec.Tasks {
		name := job.Spec.Tasks[i].Template.Spec.PriorityClassName
		if _, read := values[name]; read || name == "" {
			continue
		}
		var class schedulingv1.PriorityClass
		if err := r.cache.Get(ctx, types.NamespacedName{Name: name}, &class); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("priorityclass %s: %w", name, err)
		}
		values[name] = class.Value
	}
	return nil
}

// findClaims reports which of the job's claims exist. It reads them from the API server without a watch, because only
// starting jobs need them.
func (r *Reconciler) findClaims(ctx context.Context, job *batchv1alpha1.Job) (map[string]bool, error) {
	exist := map[string]bool{}
	for _, name := range plan.ClaimNames(job) {
		var claim corev1.PersistentVolumeClaim
		err := r.api.Get(ctx, types.NamespacedName{Namespace: job.Namespace, Name: name}, &claim)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("pvc %s: %w", name, err)
		}
		exist[name] = err == nil
	}
	return exist, nil
}
