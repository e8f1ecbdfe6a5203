package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

// markPodsToStop marks the pods that must be stopped because the job is ending.
func (b *builder) markPodsToStop(keepFinished bool) {
	for _, m := range b.census.members {
		m.stop = !m.gone && !b.staysWithResult(m, keepFinished)
	}
}

// markOutdated marks the pods of older versions of the job, so that they are stopped.
func (b *builder) markOutdated() {
	keepFinished := b.job.Status.State.Reason == string(busv1alpha1.ResumeJobAction) || b.job.Status.RetryCount >= b.job.Spec.MaxRetry
	for _, m := range b.census.members {
		isOutdated := !m.gone && m.version < b.job.Status.Version
		m.stop = isOutdated && !b.staysWithResult(m, keepFinished)
	}
}

// staysWithResult reports whether a pod has ended and is kept for its result.
func (b *builder) staysWithResult(m *member, keepFinished bool) bool {
	return !m.isLivePod() && (keepFinished || b.keepsSucceededPod(m))
}

// isInputOutdated reports whether the pods and commands may come from lists that are older than this process.
func (b *builder) isInputOutdated() bool { return b.in.Doubt && !b.in.Fresh }

// haveAllPodsEnded reports whether all known pods of the job have ended.
func (b *builder) haveAllPodsEnded() bool {
	return !slices.ContainsFunc(b.census.members, func(m *member) bool { return !m.hasFinished() })
}

// stopsAnyPod reports whether this plan stops any pod.
func (b *builder) stopsAnyPod() bool {
	return slices.ContainsFunc(b.census.members, func(m *member) bool { return m.stop })
}

// stopsAnyLivePod reports whether this plan stops any pod that has not ended, as far as is known.
func (b *builder) stopsAnyLivePod() bool {
	return slices.ContainsFunc(b.census.members, func(m *member) bool { return m.stop && m.isLivePod() })
}

// needsMark reports whether the pod must be annotated before it is stopped, because its end would otherwise look like
// an eviction or an unhandled failure.
func (m *member) needsMark() bool {
	return m.stopMark && !m.marked && !m.ours
}

// marksAnyPod reports whether this plan annotates any pod before it is stopped.
func (b *builder) marksAnyPod() bool {
	return slices.ContainsFunc(b.census.members, (*member).needsMark)
}

// stopPods deletes the pods that are to be stopped. Before that, it annotates those pods whose end would look like an
// eviction. These are the pods of the current version if the phase keeps this version.
func (b *builder) stopPods() {
	if b.isInputOutdated() && b.stopsAnyLivePod() {
		b.plan.Refresh = true // the pods may have ended, and then their results must be kept
		return
	}
	var mark, stop []*corev1.Pod
	for _, m := range b.census.members {
		if m.stop {
			stop = append(stop, m.pod)
		}
		if m.needsMark() {
			mark = append(mark, m.pod)
		}
	}
	if len(mark) > 0 {
		b.appendWrites(MarkPods{Pods: mark})
	}
	if len(stop) > 0 {
		b.appendWrites(DeletePods{Pods: stop})
	}
}
