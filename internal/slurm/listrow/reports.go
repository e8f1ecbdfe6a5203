package listrow

import (
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// RecordedReport returns the launcher's report from the job's status. It is needed for rows that have ended and whose
// head pod has been deleted. ok is false if there is no report.
func (r *Row) RecordedReport() (report launchconfig.Report, ok bool) {
	if kept := r.findPodReport(); kept != nil {
		return launchconfig.ParseReport(kept.Message)
	}
	return launchconfig.Report{}, false
}

func (r *Row) findPodReport() *batchv1alpha1.PodReport {
	if !r.State.Code.HasEnded() || r.HeadPod() != nil {
		return nil
	}
	_, size, _ := batchv1alpha1.ElementsOf(r.Job)
	for i := range r.Job.Status.Reports {
		kept := &r.Job.Status.Reports[i]
		if _, isLauncher := launchconfig.ParseReport(kept.Message); !isLauncher {
			continue
		}
		isOfOtherElement := r.IsArray() && size > 0 && int(kept.Index/size) != r.Position
		if !isOfOtherElement {
			return kept
		}
	}
	return nil
}

// setRecordedTimes sets missing times of an element whose pods were deleted, using the times in its launcher's report.
func (r *Row) setRecordedTimes() {
	kept := r.findPodReport()
	if kept == nil {
		return
	}
	if kept.StartTime != nil && r.Times.Start.IsZero() {
		r.Times.Start = kept.StartTime.Time
	}
	if kept.FinishTime != nil && r.Times.End.IsZero() {
		r.Times.End = kept.FinishTime.Time
	}
}
