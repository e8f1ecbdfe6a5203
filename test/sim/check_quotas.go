package sim

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/apiserver"
)

// checkQuota checks that new pods do not exceed the quota of their namespace.
func (c *checks) checkQuota(change apiserver.Change, pod *corev1.Pod) {
	if change.Old != nil || pod.Namespace != smallNamespace {
		return
	}
	quota := c.world.quota()
	if quota == nil || len(quota.Status.Hard) == 0 || c.world.hasQuotaChanged() {
		return // a new quota has no effect until its usage is known, and limits that were lowered may be exceeded
	}
	var pods, cpu int64
	for _, other := range c.world.state.pods {
		if other.Namespace == quota.Namespace && !isFinished(other) && !c.world.isPastGrace(other) {
			pods++
			cpu += milliCPU(other)
		}
	}
	if !fitsQuota(quota, pods, cpu) {
		c.world.fail("the quota is %s, but after the creation of pod %s there are %d pods with cpu %dm", describeQuota(quota.Spec.Hard), pod.Name, pods, cpu)
	}
}

// hasQuotaChanged reports whether the limits of a quota were changed at any time.
func (w *World) hasQuotaChanged() bool {
	return slices.ContainsFunc(w.changes[quotaKind], func(c apiserver.Change) bool {
		old, existed := c.Old.(*corev1.ResourceQuota)
		quota, exists := c.Object.(*corev1.ResourceQuota)
		return existed && exists && !equality.Semantic.DeepEqual(old.Spec.Hard, quota.Spec.Hard)
	})
}

// isPastGrace reports whether the grace period of a deleted pod has passed twice. From then on, the quota does not count the
// pod, which is probably on a lost node.
func (w *World) isPastGrace(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return false
	}
	grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	return w.now.After(pod.DeletionTimestamp.Add(grace))
}

// fitsQuota reports whether a number of pods with a total request may exist at the same time.
func fitsQuota(quota *corev1.ResourceQuota, pods, milliCPU int64) bool {
	if limit, limited := quota.Spec.Hard[corev1.ResourcePods]; limited && pods > limit.Value() {
		return false
	}
	limit, limited := quota.Spec.Hard[corev1.ResourceRequestsCPU]
	return !limited || milliCPU <= limit.MilliValue()
}

// isWithinQuota reports whether pods of a job may exist at the same time. A job that was admitted before the quota was
// lowered or known, and that exceeds it, keeps others waiting until a user deletes it.
func (w *World) isWithinQuota(job *batchv1alpha1.Job, d demand) bool {
	quota := w.quota()
	if quota == nil || quota.Namespace != job.Namespace {
		return true
	}
	if !fitsQuota(quota, d.pods, d.total) {
		return false
	}
	for _, pod := range w.state.pods {
		if pod.Namespace != job.Namespace || isFinished(pod) || isOwnedBy(pod, job.UID) {
			continue
		}
		owner := w.state.jobs[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Annotations[keys.JobName]}]
		if owner == nil || w.hasQuotaChanged() {
			return false
		}
		if other := minimumOf(owner); !fitsQuota(quota, other.pods, other.total) {
			return false
		}
	}
	return true
}

// hasFreeQuota reports whether pods of a job may exist beside the pods that its namespace has now.
func (w *World) hasFreeQuota(job *batchv1alpha1.Job, d demand) bool {
	quota := w.quota()
	if quota == nil || quota.Namespace != job.Namespace {
		return true
	}
	for _, pod := range w.state.pods {
		if pod.Namespace == job.Namespace && !isFinished(pod) && !isOwnedBy(pod, job.UID) {
			d.add(milliCPU(pod))
		}
	}
	return fitsQuota(quota, d.pods, d.total)
}
