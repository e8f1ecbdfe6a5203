package extract

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/podusage"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// Input holds a job, its pods and their measured uses.
type Input struct {
	// Cluster is the name of the cluster.
	Cluster string
	Job     *batchv1alpha1.Job
	// Pods lists the job's existing pods.
	Pods []*corev1.Pod
	// Uses lists the measured uses of the job's pods, also of pods that are gone, and of pods whose annotation is older.
	Uses []PodUse
}

// PodUse is the measured use of a pod of an attempt.
type PodUse struct {
	UID types.UID
	// Attempt and Element are like the fields of accounting.Key.
	Attempt, Element int32
	podusage.Use
}

// Records returns the records of the job's attempts from a number on that are over: one record for each earlier attempt in
// the status, and for the current attempt one record, or one for each element of an array. A job that is being deleted
// counts as cancelled.
func Records(in Input, from int32) ([]accounting.Record, error) {
	records := earlierRecords(in, from)
	if !IsAttemptOver(in.Job) || in.Job.Attempt() < from {
		return records, nil
	}
	current, err := currentRecords(in)
	return append(records, current...), err
}

// currentRecords returns the records of the current attempt, which is over.
func currentRecords(in Input) ([]accounting.Record, error) {
	job := in.Job
	if !hasEnded(job) {
		job = cancelledByDeletion(job)
	}
	pods := annotatePods(in.Pods, in.Uses)
	document, err := Document{Job: job, Pods: pods}.Encode()
	if err != nil {
		return nil, fmt.Errorf("job %s/%s: %w", job.Namespace, job.Name, err)
	}
	source := &listrow.Source{
		Job: job, Pods: pods, PodsRead: true, Cluster: in.Cluster, Now: job.Status.State.LastTransitionTime.Time,
	}
	rows := listrow.RowsOf(source, true)
	records := make([]accounting.Record, 0, len(rows))
	for i := range rows {
		record := newRecord(&rows[i])
		addUse(&record, sumUses(in.Uses, record.Attempt, record.Element))
		record.Document = document
		records = append(records, record)
	}
	return records, nil
}

// IsAttemptOver reports whether the current attempt to run a job is over: the job has ended or is being deleted. A suspended
// job may be resumed, which begins another attempt, or cancelled.
func IsAttemptOver(job *batchv1alpha1.Job) bool { return hasEnded(job) || job.DeletionTimestamp != nil }

// hasEnded reports whether a job has ended and has no more pods to stop.
func hasEnded(job *batchv1alpha1.Job) bool {
	switch job.Status.State.Phase {
	case batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated:
		return true
	}
	return false
}

// cancelledByDeletion returns the job as if a user had cancelled it when its deletion was requested.
func cancelledByDeletion(job *batchv1alpha1.Job) *batchv1alpha1.Job {
	job = job.DeepCopy()
	job.Status.State.Phase = batchv1alpha1.Terminated
	job.Status.State.Reason, job.Status.State.Message = state.DeletedReason, "the job was deleted before it had ended"
	job.Status.State.LastTransitionTime = *job.DeletionTimestamp
	return job
}

// newRecord returns the record of a row.
func newRecord(row *listrow.Row) accounting.Record {
	job := row.Job
	id, _ := batchv1alpha1.JobID(job)
	r := accounting.Record{
		Key:   accounting.Key{Cluster: row.Cluster, JobUID: string(job.UID), Attempt: job.Attempt(), Element: accounting.NoElement},
		JobID: id, Namespace: job.Namespace, Name: job.Name,
		User: batchv1alpha1.UserOf(job), Account: job.Labels[keys.Account], QOS: row.QOSName(), Queue: row.QueueName(),
		Outcome: outcomeOf(row), Reason: job.Status.State.Reason, ExitCode: exitCode(row.Exit),
		Submitted: wholeSecond(row.Times.Submit), Eligible: wholeSecond(row.Times.Eligible),
		Started: wholeSecond(row.Times.Start), Ended: wholeSecond(endOf(row)),
		TimeLimit: state.TimeLimit(job), NodeNames: row.NodeNames(), Pods: int32(row.NodeCount()),
	}
	if row.IsArray() {
		r.Element = row.Elements[0].First
	}
	if r.Ended.Before(r.Started) {
		r.Ended = r.Started
	}
	r.Requested = requestsOf(row)
	if !r.Started.IsZero() {
		r.Allocated = r.Requested
	}
	if usage, ok := row.MeasuredUse(); ok {
		r.CPUTime, r.PeakMemoryBytes = time.Duration(usage.CPUMillis)*time.Millisecond, usage.MaxRSS<<10
		r.GPUTime, r.GPUMeasured = time.Duration(usage.GPUMillis)*time.Millisecond, time.Duration(usage.GPUMeasuredMillis)*time.Millisecond
	}
	return r
}

// annotatePods returns the pods with at least the given uses in their annotations.
func annotatePods(pods []*corev1.Pod, uses []PodUse) []*corev1.Pod {
	byPod := map[types.UID]podusage.Use{}
	for i := range uses {
		byPod[uses[i].UID] = uses[i].Use
	}
	annotated := slices.Clone(pods)
	for i, pod := range pods {
		use, isMeasured := byPod[pod.UID]
		written, _ := podusage.Of(pod)
		if larger := written.Max(use); isMeasured && larger != written {
			changed := *pod
			changed.Annotations = maps.Clone(pod.Annotations)
			if changed.Annotations == nil {
				changed.Annotations = map[string]string{}
			}
			changed.Annotations[keys.Used] = larger.Encode()
			annotated[i] = &changed
		}
	}
	return annotated
}

// sumUses returns the sum of the uses of the pods of an attempt. With NoElement, all elements of an array are included.
func sumUses(uses []PodUse, attempt, element int32) podusage.Use {
	var sum podusage.Use
	for i := range uses {
		isOfElement := element == accounting.NoElement || uses[i].Element == element
		if uses[i].Attempt == attempt && isOfElement {
			sum.CPUMilliseconds += uses[i].CPUMilliseconds
			sum.PeakMemoryBytes += uses[i].PeakMemoryBytes
			sum.GPUMilliseconds += uses[i].GPUMilliseconds
			sum.GPUMeasuredMilliseconds += uses[i].GPUMeasuredMilliseconds
		}
	}
	return sum
}

// addUse makes the use of a record at least as large as the sum of the uses of its pods, some of which may be gone.
func addUse(r *accounting.Record, sum podusage.Use) {
	r.CPUTime, r.PeakMemoryBytes = max(r.CPUTime, sum.CPUTime()), max(r.PeakMemoryBytes, sum.PeakMemoryBytes)
	busy, measured := sum.GPUTime()
	r.GPUTime, r.GPUMeasured = max(r.GPUTime, busy), max(r.GPUMeasured, measured)
}

// endOf returns the end of a row. An element whose end was not recorded ended with the job. A job that was cancelled while
// it was suspended used resources until its suspension only.
func endOf(row *listrow.Row) time.Time {
	end := row.Times.End
	if end.IsZero() {
		end = row.Job.Status.State.LastTransitionTime.Time
	}
	if released := row.Times.Released; !released.IsZero() && released.Before(end) {
		return released
	}
	return end
}

// earlierRecords returns the records of the attempts in the status from a number on.
func earlierRecords(in Input, from int32) []accounting.Record {
	job := in.Job
	var records []accounting.Record
	for i := range job.Status.Attempts {
		attempt := &job.Status.Attempts[i]
		if attempt.Number < from {
			continue
		}
		rows := listrow.RowsOf(&listrow.Source{Job: job, Cluster: in.Cluster}, false)
		r := newRecord(&rows[0])
		r.Attempt, r.Element = attempt.Number, accounting.NoElement
		r.Outcome, r.Reason, r.ExitCode = outcomeOfAttempt(attempt), "", 0
		if failure := attempt.Failure; failure != nil {
			r.Reason = failure.Reason
			if failure.ExitCode != nil {
				r.ExitCode = *failure.ExitCode
			}
		}
		r.Started, r.Ended = time.Time{}, wholeSecond(attempt.EndTime.Time)
		use := sumUses(in.Uses, attempt.Number, accounting.NoElement)
		r.NodeNames, r.Allocated, r.CPUTime, r.PeakMemoryBytes = attempt.Nodes, nil, use.CPUTime(), use.PeakMemoryBytes
		r.GPUTime, r.GPUMeasured = use.GPUTime()
		if attempt.StartTime != nil {
			r.Started, r.Allocated = wholeSecond(attempt.StartTime.Time), r.Requested
		}
		records = append(records, r)
	}
	return records
}

// outcomeOfAttempt returns the outcome of an attempt that was followed by a restart.
func outcomeOfAttempt(attempt *batchv1alpha1.JobAttempt) accounting.Outcome {
	code := listrow.CodeOfAttempt(attempt)
	if code == state.Requeued {
		return accounting.Restarted
	}
	return cmp.Or(outcomes[code], accounting.Failed)
}

// AttemptOf returns a recorded attempt for a list of jobs.
func AttemptOf(r *accounting.Record) listrow.Attempt {
	return listrow.Attempt{
		Number: r.Attempt, Element: r.Element, Code: CodeOf(r.Outcome), Reason: listrow.SlurmReason(r.Reason),
		Exit: state.NewExit(r.ExitCode), Start: r.Started, End: r.Ended, Nodes: r.NodeNames,
		Use: launchconfig.Usage{
			CPUMillis: r.CPUTime.Milliseconds(), MaxRSS: r.PeakMemoryBytes >> 10,
			GPUMillis: r.GPUTime.Milliseconds(), GPUMeasuredMillis: r.GPUMeasured.Milliseconds(),
		},
	}
}

// CodeOf returns Slurm's code for an outcome.
func CodeOf(outcome accounting.Outcome) state.Code {
	if outcome == accounting.Restarted {
		return state.Requeued
	}
	for code, of := range outcomes {
		if of == outcome && code != state.BootFail { // which counts as failed
			return code
		}
	}
	return state.Failed
}

// wholeSecond drops fractions of a second.
func wholeSecond(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Second)
}

// outcomes maps the states of ended rows to outcomes.
var outcomes = map[state.Code]accounting.Outcome{
	state.Completed: accounting.Completed, state.Failed: accounting.Failed, state.BootFail: accounting.Failed,
	state.Timeout: accounting.TimedOut, state.OutOfMemory: accounting.OutOfMemory, state.NodeFail: accounting.NodeFailed,
	state.Cancelled: accounting.Cancelled, state.Suspended: accounting.Suspended, state.Preempted: accounting.Preempted,
}

// outcomeOf returns the outcome of a row. Elements that had not ended when the job ended were cancelled.
func outcomeOf(row *listrow.Row) accounting.Outcome {
	return cmp.Or(outcomes[row.State.Code], accounting.Cancelled)
}

// exitCode returns the exit code of a process. For a process that a signal ended, this is 128 plus the signal, as in a
// shell.
func exitCode(exit state.Exit) int32 {
	if exit.Code == 0 && exit.Signal > 0 {
		return int32(128 + exit.Signal)
	}
	return int32(exit.Code)
}

// requestsOf returns the total requests of the pods of a row.
func requestsOf(row *listrow.Row) accounting.Resources {
	total := accounting.Resources{}
	left := int64(row.NodeCount())
	for i := range row.Job.Spec.Tasks {
		task := &row.Job.Spec.Tasks[i]
		pods := min(int64(task.Replicas), left)
		if row.IsArray() {
			pods = left
		}
		left -= pods
		for name, amount := range requestsOfPod(&task.Template.Spec) {
			total[name] += pods * amount
		}
	}
	if nodes := len(row.NodeNames()); nodes > 0 {
		total[accounting.Nodes] = int64(nodes)
	}
	return total
}

// requestsOfPod returns the requests of one pod.
func requestsOfPod(spec *corev1.PodSpec) accounting.Resources {
	sum := corev1.ResourceList{}
	for i := range spec.Containers {
		jobstatus.AddRequests(sum, spec.Containers[i].Resources)
	}
	return AmountsOf(sum)
}

// AmountsOf returns amounts of resources in the units of the accounting database.
func AmountsOf(list corev1.ResourceList) accounting.Resources {
	amounts := accounting.Resources{}
	for name, amount := range list {
		switch name {
		case corev1.ResourceCPU:
			amounts[accounting.CPU] = amount.MilliValue()
		case corev1.ResourceMemory:
			amounts[accounting.Memory] = (amount.Value() + 1<<20 - 1) >> 20
		default:
			amounts[string(name)] = amount.Value()
		}
	}
	return amounts
}
