package plan

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// ReportFromPod returns the termination message of a deleted pod. ok is false if the pod left no message or does not
// belong to a job.
func ReportFromPod(pod *corev1.Pod) (report Report, ok bool) {
	task, index, version, ok := ParsePodIdentity(pod)
	if !ok {
		return Report{}, false
	}
	for i := range pod.Status.ContainerStatuses {
		ended := pod.Status.ContainerStatuses[i].State.Terminated
		if ended == nil || ended.Message == "" {
			continue
		}
		report = Report{UID: pod.UID, Version: version, PodReport: batchv1alpha1.PodReport{Task: task, Index: index, Message: ended.Message}}
		if !ended.StartedAt.IsZero() {
			report.StartTime = ended.StartedAt.DeepCopy()
		}
		if !ended.FinishedAt.IsZero() {
			report.FinishTime = ended.FinishedAt.DeepCopy()
		}
		return report, true
	}
	return Report{}, false
}

// answerReports marks the reports that the status already contains or will never contain as handled. The other reports
// are kept until a later plan finds them in the status, so that no report is lost if a write fails.
func (b *builder) answerReports() {
	for i := range b.in.Reports {
		r := &b.in.Reports[i]
		if !b.needsReport(r) || !isNewAndFits(b.job.Status.Reports, r) {
			b.plan.Reported = append(b.plan.Reported, r.UID)
		}
	}
}

// needsReport reports whether a report belongs to the last run of a Slurm job. While a job is ending, its version is
// newer than the version of its pods.
func (b *builder) needsReport(r *Report) bool {
	if b.job.Annotations[keys.Slurm] == "" || b.currentPhase() == batchv1alpha1.Restarting {
		return false
	}
	return leavesItsNodes(b.currentPhase()) || r.Version == b.job.Status.Version
}

// isNewAndFits reports whether a report can be added to reports. This is not the case if reports already contains a
// report from the same pod, or if there is not enough space.
func isNewAndFits(reports []batchv1alpha1.PodReport, r *Report) bool {
	return !slices.ContainsFunc(reports, r.isSamePod) && batchv1alpha1.ReportFits(reports, r.Message)
}

func (r *Report) isSamePod(kept batchv1alpha1.PodReport) bool {
	return kept.Task == r.Task && kept.Index == r.Index
}

// recordReports stores the reports of deleted pods in the status. It removes the reports of pods that have been
// re-created, and all reports when the whole job restarts.
func (b *builder) recordReports(status *batchv1alpha1.JobStatus) {
	if status.State.Phase == batchv1alpha1.Restarting && status.Version != b.in.Job.Status.Version {
		status.Reports = nil
		return
	}
	status.Reports = slices.DeleteFunc(status.Reports, b.isCreatedAgain)
	for i := range b.in.Reports {
		r := &b.in.Reports[i]
		if b.needsReport(r) && !b.isCreatedAgain(r.PodReport) && isNewAndFits(status.Reports, r) {
			status.Reports = append(status.Reports, r.PodReport)
		}
	}
	slices.SortFunc(status.Reports, func(x, y batchv1alpha1.PodReport) int {
		return cmp.Or(cmp.Compare(x.Task, y.Task), cmp.Compare(x.Index, y.Index))
	})
}

// isCreatedAgain reports whether there is a new pod at the place of the pod that left a report.
func (b *builder) isCreatedAgain(r batchv1alpha1.PodReport) bool {
	m := b.census.taken[Place{Task: b.findTaskIndex(r.Task), Index: r.Index}]
	return m != nil && !m.gone
}
