package listrow

import (
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/podusage"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// LauncherReport returns the launcher's report from the termination message of the head pod. ok is false if the pod does
// not exist or has not ended, or if it has no launcher.
func (r *Row) LauncherReport() (report launchconfig.Report, ok bool) {
	head := r.HeadPod()
	if head == nil {
		return launchconfig.Report{}, false
	}
	for i := range head.Status.ContainerStatuses {
		if t := head.Status.ContainerStatuses[i].State.Terminated; t != nil {
			if report, ok := launchconfig.ParseReport(t.Message); ok {
				return report, true
			}
		}
	}
	return launchconfig.Report{}, false
}

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

// MeasuredUse returns what the row's pods used. It is the sum of the uses in the annotations of the existing pods. The
// head pod used at least what its launcher reports, because the annotation may be older. ok is false if nothing was
// measured.
func (r *Row) MeasuredUse() (use launchconfig.Usage, ok bool) {
	if r.IsEarlier {
		return r.RecordedUse, r.RecordedUse != launchconfig.Usage{}
	}
	report, ok := r.LauncherReport()
	if !ok {
		report, ok = r.RecordedReport()
	}
	head, ofHead := r.HeadPod(), report.Usage
	for _, pod := range r.Mine {
		one, isMeasured := podusage.Of(pod)
		if !isMeasured {
			continue
		}
		ok = true
		use.GPUMillis += one.GPUMilliseconds
		use.GPUMeasuredMillis += one.GPUMeasuredMilliseconds
		use.GPUs += one.GPUs
		if pod == head {
			ofHead.CPUMillis, ofHead.MaxRSS = max(ofHead.CPUMillis, one.CPUMilliseconds), max(ofHead.MaxRSS, one.PeakMemoryBytes>>10)
			continue
		}
		use.CPUMillis += one.CPUMilliseconds
		use.MaxRSS += one.PeakMemoryBytes >> 10
	}
	use.CPUMillis += ofHead.CPUMillis
	use.MaxRSS += ofHead.MaxRSS
	return use, ok
}
