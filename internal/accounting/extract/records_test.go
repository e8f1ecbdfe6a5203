package extract

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/podusage"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/sacct"
	"github.com/vc-batch/vc/internal/slurm/submission"
)

var submitted = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// after returns the time some seconds after the submission.
func after(seconds int) metav1.Time {
	return metav1.NewTime(submitted.Add(time.Duration(seconds) * time.Second))
}

// newJob returns a running job of Mei with two pods, each of which requests half a CPU, 1 GiB and a GPU.
func newJob() *batchv1alpha1.Job {
	container := corev1.Container{Name: "main", Command: []string{"secret"}, Env: []corev1.EnvVar{{Name: "TOKEN", Value: "secret"}}}
	container.Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi"), "nvidia.com/gpu": resource.MustParse("1"),
	}
	job := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "research", Name: "train", UID: "1234", CreationTimestamp: after(0),
			Labels: map[string]string{keys.JobID: "42"}, Annotations: map[string]string{keys.User: "mei"},
		},
		Spec: batchv1alpha1.JobSpec{
			Queue: "gpu", MinAvailable: 2,
			Tasks: []batchv1alpha1.TaskSpec{{Name: "head", Replicas: 2, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}}}},
		},
	}
	enter(job, batchv1alpha1.Pending, 0)
	enter(job, batchv1alpha1.Running, 10)
	return job
}

// enter sets the phase that a job entered some seconds after its submission.
func enter(job *batchv1alpha1.Job, phase batchv1alpha1.JobPhase, seconds int) {
	when := after(seconds)
	job.Status.State = batchv1alpha1.JobState{Phase: phase, LastTransitionTime: when}
	job.Status.Conditions = append(job.Status.Conditions, batchv1alpha1.JobCondition{Status: phase, LastTransitionTime: &when})
}

// newPod returns a pod of a job on a node, whose container started at 10 and ended at 70 with an exit code.
func newPod(job *batchv1alpha1.Job, index, node string, code int32) *corev1.Pod {
	report := launchconfig.Report{Kind: launchconfig.ReportKind, Code: int(code), Usage: launchconfig.Usage{CPUMillis: 45_500, MaxRSS: 2048}}
	ended := corev1.ContainerStateTerminated{ExitCode: code, StartedAt: after(10), FinishedAt: after(70), Message: report.EncodeText()}
	phase := corev1.PodSucceeded
	if code != 0 {
		phase = corev1.PodFailed
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: job.Name + "-head-" + index, CreationTimestamp: after(5),
			Labels: map[string]string{keys.JobName: job.Name, keys.TaskSpec: "head", keys.TaskIndex: index},
		},
		Spec: corev1.PodSpec{NodeName: node},
		Status: corev1.PodStatus{
			Phase: phase, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &ended}}},
		},
	}
}

// TestTheRecordHasTheAssignedQOS checks that reports by QOS use the QOS that admission assigned.
func TestTheRecordHasTheAssignedQOS(t *testing.T) {
	t.Parallel()
	job := newJob()
	metav1.SetMetaDataLabel(&job.ObjectMeta, keys.QOS, "short")
	enter(job, batchv1alpha1.Completed, 70)
	records, err := Records(Input{Cluster: "prod", Job: job, Pods: []*corev1.Pod{newPod(job, "0", "node-1", 0)}}, 0)
	if err != nil || len(records) != 1 || records[0].QOS != "short" {
		t.Errorf("records %+v, error %v", records, err)
	}
}

// TestTheRecordHasOnlyTheAccountThatAdmissionEstablished checks that neither the account that a user requested nor the namespace is
// charged.
func TestTheRecordHasOnlyTheAccountThatAdmissionEstablished(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ label, requested, want, shown string }{
		"the account of the job":                    {"physics", "physics", "physics", "physics"},
		"an account that the user only requested":   {"", "chem", "", "research"},
		"another account than the user requested":   {"physics", "chem", "physics", "physics"},
		"a job without an account in the namespace": {"", "", "", "research"},
	} {
		job := newJob()
		submission.StoreOptions(job, submission.Options{Account: test.requested, Tasks: 2})
		if test.label != "" {
			metav1.SetMetaDataLabel(&job.ObjectMeta, keys.Account, test.label)
		}
		job.Status.Attempts = []batchv1alpha1.JobAttempt{{Number: 0, EndTime: after(20)}}
		job.Status.Version = 1
		enter(job, batchv1alpha1.Completed, 70)
		records, err := Records(Input{Cluster: "prod", Job: job, Pods: []*corev1.Pod{newPod(job, "0", "node-1", 0)}}, 0)
		if err != nil || len(records) != 2 {
			t.Fatalf("%s: %d records, error %v", name, len(records), err)
		}
		for i := range records {
			if records[i].Account != test.want {
				t.Errorf("%s: the record of attempt %d has the account %q, want %q", name, records[i].Attempt, records[i].Account, test.want)
			}
		}
		rows := listrow.RowsOf(&listrow.Source{Job: job}, true)
		if got := rows[0].AccountName(); got != test.shown {
			t.Errorf("%s: sacct shows the account %q, want %q", name, got, test.shown)
		}
	}
}

func TestAnEndedJobHasARecord(t *testing.T) {
	t.Parallel()
	job := newJob()
	pods := []*corev1.Pod{newPod(job, "0", "node-1", 0), newPod(job, "1", "node-2", 0)}
	if records, err := Records(Input{Cluster: "prod", Job: job, Pods: pods}, 0); err != nil || len(records) > 0 {
		t.Fatalf("a running job has the records %v, error %v", records, err)
	}
	enter(job, batchv1alpha1.Completed, 70)
	records, err := Records(Input{Cluster: "prod", Job: job, Pods: pods}, 0)
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records, error %v", len(records), err)
	}
	resources := accounting.Resources{accounting.CPU: 1000, accounting.Memory: 2048, "nvidia.com/gpu": 2, accounting.Nodes: 2}
	want := accounting.Record{
		Key:   accounting.Key{Cluster: "prod", JobUID: "1234", Element: accounting.NoElement},
		JobID: 42, Namespace: "research", Name: "train", User: "mei", QOS: "normal", Queue: "gpu",
		Outcome: accounting.Completed, Submitted: submitted, Eligible: submitted, Started: after(10).Time, Ended: after(70).Time,
		NodeNames: []string{"node-1", "node-2"}, Pods: 2, Requested: resources, Allocated: resources,
		CPUTime: 45_500 * time.Millisecond, PeakMemoryBytes: 2 << 20,
	}
	got := records[0]
	got.Document = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTheOutcomeAndTimesFollowFromTheEnd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		end     func(job *batchv1alpha1.Job)
		outcome accounting.Outcome
		started bool
		ended   int
		attempt int32
	}{
		{"failed", func(job *batchv1alpha1.Job) { enter(job, batchv1alpha1.Failed, 30) }, accounting.Failed, true, 30, 0},
		{"cancelled", func(job *batchv1alpha1.Job) {
			job.Annotations[keys.CancelledBy] = "mei"
			enter(job, batchv1alpha1.Terminated, 40)
		}, accounting.Cancelled, true, 40, 0},
		{"deleted while running", func(job *batchv1alpha1.Job) {
			deleted := after(50)
			job.DeletionTimestamp = &deleted
		}, accounting.Cancelled, true, 50, 0},
		{"deleted after its end", func(job *batchv1alpha1.Job) {
			enter(job, batchv1alpha1.Completed, 20)
			deleted := after(50)
			job.DeletionTimestamp = &deleted
		}, accounting.Completed, true, 20, 0},
		{"cancelled while suspended", func(job *batchv1alpha1.Job) {
			enter(job, batchv1alpha1.Aborted, 20)
			job.Annotations[keys.CancelledBy] = "mei"
			enter(job, batchv1alpha1.Terminated, 40)
		}, accounting.Cancelled, true, 20, 0},
		{"deleted while suspended", func(job *batchv1alpha1.Job) {
			enter(job, batchv1alpha1.Aborted, 20)
			deleted := after(50)
			job.DeletionTimestamp = &deleted
		}, accounting.Cancelled, true, 20, 0},
		{"cancelled before it ran again", func(job *batchv1alpha1.Job) {
			enter(job, batchv1alpha1.Restarting, 20)
			job.Status.RetryCount = 1
			job.Annotations[keys.CancelledBy] = "mei"
			enter(job, batchv1alpha1.Terminated, 25)
		}, accounting.Cancelled, false, 25, 1},
		{"failed as often as maxRetry permits", func(job *batchv1alpha1.Job) {
			job.Spec.MaxRetry, job.Status.RetryCount = 2, 2
			enter(job, batchv1alpha1.Restarting, 20)
			enter(job, batchv1alpha1.Failed, 25)
		}, accounting.Failed, true, 25, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			job := newJob()
			test.end(job)
			records, err := Records(Input{Job: job}, job.Attempt())
			if err != nil || len(records) != 1 {
				t.Fatalf("%d records, error %v", len(records), err)
			}
			got := records[0]
			if got.Outcome != test.outcome || got.Attempt != test.attempt || !got.Ended.Equal(after(test.ended).Time) {
				t.Errorf("attempt %d is %s at %s", got.Attempt, got.Outcome, got.Ended)
			}
			if hasStarted := !got.Started.IsZero(); hasStarted != test.started || (len(got.Allocated) > 0) != test.started {
				t.Errorf("started at %s with %v", got.Started, got.Allocated)
			}
		})
	}
}

// A suspended job is recorded when it is known what becomes of it: a record cannot be changed.
func TestASuspendedJobIsRecordedWhenItIsResumed(t *testing.T) {
	t.Parallel()
	job := newJob()
	enter(job, batchv1alpha1.Aborted, 20)
	if records, err := Records(Input{Job: job}, 0); err != nil || len(records) != 0 {
		t.Fatalf("%d records of a suspended job, error %v", len(records), err)
	}
	started := after(10)
	job.Status.Attempts = []batchv1alpha1.JobAttempt{{Number: 0, Phase: batchv1alpha1.Aborted, StartTime: &started, EndTime: after(20)}}
	job.Status.UserRestarts = 1
	enter(job, batchv1alpha1.Restarting, 30)
	records, err := Records(Input{Job: job}, 0)
	if err != nil || len(records) != 1 {
		t.Fatalf("%d records, error %v", len(records), err)
	}
	if got := records[0]; got.Outcome != accounting.Suspended || got.Attempt != 0 || !got.Ended.Equal(after(20).Time) {
		t.Errorf("attempt %d is %s at %s", got.Attempt, got.Outcome, got.Ended)
	}
}

func TestEachElementOfAnArrayHasARecord(t *testing.T) {
	t.Parallel()
	job := newJob()
	job.Annotations[keys.Array] = "3,5,9"
	job.Spec.Tasks[0].Replicas = 3
	job.Status.Array = &batchv1alpha1.ArrayStatus{Succeeded: "3", Failed: "5", Cancelled: "9", ExitCodes: map[string]string{"7": "5"}, Times: "10+20 15+40"}
	enter(job, batchv1alpha1.Failed, 60)
	records, err := Records(Input{Job: job}, 0)
	if err != nil || len(records) != 3 {
		t.Fatalf("%d records, error %v", len(records), err)
	}
	type summary struct {
		Element int32
		Outcome accounting.Outcome
		Code    int32
		Ran     time.Duration
	}
	var got []summary
	for i := range records {
		got = append(got, summary{records[i].Element, records[i].Outcome, records[i].ExitCode, records[i].Run()})
	}
	want := []summary{{3, accounting.Completed, 0, 20 * time.Second}, {5, accounting.Failed, 7, 40 * time.Second}, {9, accounting.Cancelled, 0, 0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if &records[0].Document[0] != &records[2].Document[0] {
		t.Error("the elements do not share a document")
	}
}

// The lines that sacct prints for a stored job are the same as for the job itself.
func TestADocumentContainsWhatSacctPrints(t *testing.T) {
	t.Parallel()
	job := newJob()
	enter(job, batchv1alpha1.Failed, 70)
	pods := []*corev1.Pod{newPod(job, "0", "node-1", 3), newPod(job, "1", "node-2", 0)}
	encoded, err := Document{Job: job, Pods: pods}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := DecodeDocument(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if spec := stored.Job.Spec.Tasks[0].Template.Spec.Containers[0]; spec.Command != nil || spec.Env != nil {
		t.Errorf("the document contains the command %v and the environment %v", spec.Command, spec.Env)
	}
	if diff := cmp.Diff(linesOf(job, pods), linesOf(stored.Job, stored.Pods)); diff != "" {
		t.Errorf("-job +document:\n%s", diff)
	}
}

// linesOf returns all columns that sacct prints for a job.
func linesOf(job *batchv1alpha1.Job, pods []*corev1.Pod) []string {
	var lines []string
	rows := listrow.RowsOf(&listrow.Source{Job: job, Pods: pods, PodsRead: true, Now: after(1000).Time}, true)
	for i := range rows {
		list := sacct.LinesOf(&rows[i], false)
		for j := range list {
			for _, field := range (sacct.Style{}).ColumnFields() {
				lines = append(lines, field.Names[0]+" "+field.Value(&list[j]))
			}
		}
	}
	return lines
}

func TestEarlierAttemptsHaveRecords(t *testing.T) {
	t.Parallel()
	job := newJob()
	started, code := after(10), int32(7)
	job.Status.RetryCount, job.Status.UserRestarts = 2, 1
	job.Status.Attempts = []batchv1alpha1.JobAttempt{
		{Number: 0, StartTime: &started, EndTime: after(20), Phase: batchv1alpha1.Restarting, Nodes: []string{"node-1"}, Failure: &batchv1alpha1.JobFailure{Reason: "PodFailed", ExitCode: &code}},
		{Number: 1, StartTime: &started, EndTime: after(30), Phase: batchv1alpha1.Restarting, Failure: &batchv1alpha1.JobFailure{Reason: "OOMKilled"}},
		{Number: 2, EndTime: after(40), Phase: batchv1alpha1.Restarting},
	}
	records, err := Records(Input{Job: job}, 1)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Records(Input{Job: job}, 0)
	if err != nil || len(all) != len(records)+1 || all[0].ExitCode != 7 || all[0].Outcome != accounting.Failed || !cmp.Equal(all[0].NodeNames, []string{"node-1"}) {
		t.Errorf("first attempt %+v, error %v", all[0], err)
	}
	type summary struct {
		Attempt int32
		Outcome accounting.Outcome
		Ran     time.Duration
	}
	var got []summary
	for i := range records {
		got = append(got, summary{records[i].Attempt, records[i].Outcome, records[i].Run()})
	}
	if diff := cmp.Diff([]summary{{1, accounting.OutOfMemory, 20 * time.Second}, {2, accounting.Restarted, 0}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The use of a pod that was measured after its annotation was written, or that is gone, is part of the records.
func TestRecordsContainTheMeasuredUse(t *testing.T) {
	t.Parallel()
	job := newJob()
	job.Spec.MaxRetry, job.Status.RetryCount = 5, 1
	job.Status.Attempts = []batchv1alpha1.JobAttempt{{EndTime: after(5), Phase: batchv1alpha1.Restarting}}
	enter(job, batchv1alpha1.Completed, 70)
	old, unmeasured := newPod(job, "0", "node-1", 0), newPod(job, "1", "node-2", 0)
	old.UID, unmeasured.UID = "old", "unmeasured"
	old.Annotations = map[string]string{keys.Used: podusage.Use{CPUMilliseconds: 46_000, PeakMemoryBytes: 7 << 20}.Encode()}
	use := func(uid types.UID, attempt int32, seconds, mebibytes int64) PodUse {
		use := podusage.Use{CPUMilliseconds: 1000 * seconds, PeakMemoryBytes: mebibytes << 20, GPUMilliseconds: 500 * seconds, GPUMeasuredMilliseconds: 2000 * seconds}
		return PodUse{UID: uid, Attempt: attempt, Element: accounting.NoElement, Use: use}
	}
	in := Input{Job: job, Pods: []*corev1.Pod{old, unmeasured}, Uses: []PodUse{use("first", 0, 3, 4), use("old", 1, 50, 6), use("gone", 1, 20, 1)}}
	records, err := Records(in, 0)
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records, error %v", len(records), err)
	}
	if first := records[0]; first.CPUTime != 3*time.Second || first.PeakMemoryBytes != 4<<20 {
		t.Errorf("the first attempt used %s and %d bytes", first.CPUTime, first.PeakMemoryBytes)
	}
	if last := records[1]; last.CPUTime != 70*time.Second || last.PeakMemoryBytes != 7<<20 {
		t.Errorf("the last attempt used %s and %d bytes", last.CPUTime, last.PeakMemoryBytes)
	}
	for i, seconds := range []time.Duration{3, 70} {
		if r := records[i]; r.GPUTime != seconds*time.Second/2 || r.GPUMeasured != seconds*2*time.Second {
			t.Errorf("attempt %d used GPUs for %s of %s, want %ds of %ds", i, r.GPUTime, r.GPUMeasured, seconds/2, seconds*2)
		}
		want := launchconfig.Usage{CPUMillis: records[i].CPUTime.Milliseconds(), MaxRSS: records[i].PeakMemoryBytes >> 10, GPUMillis: int64(seconds) * 500, GPUMeasuredMillis: int64(seconds) * 2000}
		if got := AttemptOf(&records[i]).Use; got != want {
			t.Errorf("attempt %d is listed with the use %+v, want %+v", i, got, want)
		}
	}
	document, err := DecodeDocument(records[1].Document)
	if err != nil {
		t.Fatal(err)
	}
	stored, _ := podusage.Of(document.Pods[0])
	if want := (podusage.Use{CPUMilliseconds: 50_000, PeakMemoryBytes: 7 << 20, GPUMilliseconds: 25_000, GPUMeasuredMilliseconds: 100_000}); stored != want {
		t.Errorf("the document says that the pod used %+v, want %+v", stored, want)
	}
	if before, _ := podusage.Of(old); before.CPUMilliseconds != 46_000 {
		t.Error("the pod of the cache was changed")
	}
}

// Each element of an array has the use of its own pods.
func TestTheUseOfAnElementIsThatOfItsPods(t *testing.T) {
	t.Parallel()
	job := newJob()
	job.Annotations[keys.Array] = "3,5"
	job.Spec.Tasks[0].Replicas = 2
	job.Status.Array = &batchv1alpha1.ArrayStatus{Succeeded: "3,5", Times: "10+20 15+40"}
	enter(job, batchv1alpha1.Completed, 60)
	uses := []PodUse{
		{UID: "a", Element: 3, Use: podusage.Use{CPUMilliseconds: 1000, PeakMemoryBytes: 10}},
		{UID: "b", Element: 5, Use: podusage.Use{CPUMilliseconds: 2000, PeakMemoryBytes: 20}},
	}
	records, err := Records(Input{Job: job, Uses: uses}, 0)
	if err != nil || len(records) != 2 {
		t.Fatalf("%d records, error %v", len(records), err)
	}
	for i, want := range []time.Duration{time.Second, 2 * time.Second} {
		if records[i].CPUTime != want {
			t.Errorf("element %d used %s, want %s", records[i].Element, records[i].CPUTime, want)
		}
	}
}
