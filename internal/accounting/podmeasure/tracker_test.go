package podmeasure

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/extract"
	"github.com/vc-batch/vc/internal/podusage"
)

var start = time.Unix(1_700_000_000, 0)

// observedAt is a time after all others of the tests.
var observedAt = after(100_000)

func after(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

func newJob() *batchv1alpha1.Job {
	return &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "train", UID: "job"}}
}

// runningPod returns a running pod of a job.
func runningPod(job *batchv1alpha1.Job, uid types.UID, version, node string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: string(uid), UID: uid, Annotations: map[string]string{keys.JobVersion: version}}}
	p.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1alpha1.GroupVersion.WithKind("Job"))}
	p.Spec.NodeName, p.Status.Phase = node, corev1.PodRunning
	return p
}

// endPod ends a pod with one container.
func endPod(p *corev1.Pod, at time.Time) *corev1.Pod {
	p = p.DeepCopy()
	p.Status.Phase = corev1.PodSucceeded
	ended := corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(at)}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &ended}}}
	return p
}

// sample returns a sample of a container that started at 0.
func sample(at, cpuSeconds float64, memory int64) Sample {
	return Sample{Container: "main", StartedAt: start, At: after(at), CPU: time.Duration(cpuSeconds * float64(time.Second)), MemoryBytes: memory}
}

// useOf returns the use of the only pod.
func useOf(t *testing.T, tracker *Tracker) podusage.Use {
	t.Helper()
	uses := tracker.UsesOf("job")
	if len(uses) != 1 {
		t.Fatalf("uses %+v, want one", uses)
	}
	return uses[0].Use
}

func TestTheUseFollowsFromTheSamples(t *testing.T) {
	t.Parallel()
	restarted := sample(25, 1, 5)
	restarted.StartedAt = after(24)
	sidecar := sample(20, 3, 7)
	sidecar.Container = "sidecar"
	for _, test := range []struct {
		name    string
		samples []Sample
		end     float64 // 0: still running
		want    podusage.Use
	}{
		{"running", []Sample{sample(10, 5, 100), sample(20, 15, 80)}, 0, podusage.Use{CPUMilliseconds: 15000, PeakMemoryBytes: 100}},
		{"the rate at the end is that of the last two samples", []Sample{sample(10, 5, 100), sample(20, 15, 80)}, 24, podusage.Use{CPUMilliseconds: 19000, PeakMemoryBytes: 100}},
		{"the rate of one sample is that since the start", []Sample{sample(10, 5, 100)}, 14, podusage.Use{CPUMilliseconds: 7000, PeakMemoryBytes: 100}},
		{"a long time without samples is estimated only in part", []Sample{sample(10, 5, 100)}, 1000, podusage.Use{CPUMilliseconds: 35000, PeakMemoryBytes: 100}},
		{"a cached sample counts once", []Sample{sample(10, 5, 100), sample(20, 15, 80), sample(20, 15, 80)}, 24, podusage.Use{CPUMilliseconds: 19000, PeakMemoryBytes: 100}},
		{"a restarted container counts with all its runs", []Sample{sample(20, 15, 80), restarted}, 0, podusage.Use{CPUMilliseconds: 16000, PeakMemoryBytes: 80}},
		{"containers are summed up", []Sample{sample(20, 15, 80), sidecar}, 0, podusage.Use{CPUMilliseconds: 18000, PeakMemoryBytes: 87}},
		{"a sample that was made after the end", []Sample{sample(10, 5, 100)}, 9, podusage.Use{CPUMilliseconds: 5000, PeakMemoryBytes: 100}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tracker, job := New(time.Minute), newJob()
			pod := runningPod(job, "a", "0", "node-1")
			tracker.Observe(job, pod, observedAt)
			for _, s := range test.samples {
				tracker.AddSamples(pod.UID, []Sample{s})
			}
			if test.end != 0 {
				tracker.Observe(job, endPod(pod, after(test.end)), observedAt)
				tracker.Observe(job, endPod(pod, after(test.end)), observedAt) // changes nothing
				tracker.AddSamples(pod.UID, []Sample{sample(test.end+100, 1000, 1000)})
			}
			if diff := cmp.Diff(test.want, useOf(t, tracker)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A recorder that starts again knows the peak and the CPU time of the annotation.
func TestTheUseSurvivesARestart(t *testing.T) {
	t.Parallel()
	tracker, job := New(time.Minute), newJob()
	pod := runningPod(job, "a", "0", "node-1")
	pod.Annotations[keys.Used] = podusage.Use{CPUMilliseconds: 9000, PeakMemoryBytes: 500}.Encode()
	tracker.Observe(job, pod, observedAt)
	tracker.AddSamples("a", []Sample{sample(20, 15, 80)})
	if diff := cmp.Diff(podusage.Use{CPUMilliseconds: 15000, PeakMemoryBytes: 500}, useOf(t, tracker)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPodsBelongToTheAttemptOfTheirVersion(t *testing.T) {
	t.Parallel()
	tracker, job := New(time.Minute), newJob()
	job.Spec.MaxRetry = 5
	first := runningPod(job, "first", "0", "node-1")
	first.Labels = map[string]string{keys.ArrayIndex: "7"}
	tracker.Observe(job, first, observedAt)
	tracker.AddSamples("first", []Sample{sample(10, 5, 100)})
	job.Status.RetryCount, job.Status.Version = 1, 1
	if !tracker.HasOpenPods("job", 1) {
		t.Error("the pod of the first attempt, which still runs, is not open")
	}
	second := runningPod(job, "second", "1", "node-2")
	tracker.Observe(job, second, observedAt)
	tracker.AddSamples("second", []Sample{sample(10, 1, 10)})
	// A recorder that starts now sees the pod of the first attempt for the first time.
	late := New(time.Minute)
	if attempt, isOver := late.Observe(job, first, observedAt); attempt != 0 || isOver {
		t.Errorf("the first pod is of attempt %d, over: %v", attempt, isOver)
	}
	if attempt := tracker.ObserveDeletion(job, first, observedAt); attempt != 0 || tracker.HasOpenPods("job", 1) {
		t.Errorf("the first pod, which is gone, is of attempt %d, or open", attempt)
	}
	want := []extract.PodUse{
		{UID: "first", Element: 7, Use: podusage.Use{CPUMilliseconds: 5000, PeakMemoryBytes: 100}},
		{UID: "second", Attempt: 1, Element: accounting.NoElement, Use: podusage.Use{CPUMilliseconds: 1000, PeakMemoryBytes: 10}},
	}
	if diff := cmp.Diff(want, tracker.UsesOf("job")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	tracker.ForgetAttempts("job", 2)
	if diff := cmp.Diff(want[1:], tracker.UsesOf("job")); diff != "" {
		t.Errorf("after the attempts were recorded (-want +got):\n%s", diff)
	}
	tracker.ForgetPod("second")
	tracker.ForgetJob("job")
	if len(tracker.pods) != 0 || len(tracker.jobs) != 0 {
		t.Errorf("the tracker still has the pods %v and the jobs %v", tracker.pods, tracker.jobs)
	}
}

func TestWritesAreLimitedAndTakeTurns(t *testing.T) {
	t.Parallel()
	tracker, job := New(time.Minute), newJob()
	pods := map[types.UID]*corev1.Pod{}
	for _, uid := range []types.UID{"a", "b", "c", "unmeasured"} {
		pods[uid] = runningPod(job, uid, "0", "node-1")
		tracker.Observe(job, pods[uid], observedAt)
	}
	seconds := 0.0
	due := func(pause float64) []types.UID {
		seconds += pause
		for _, uid := range []types.UID{"a", "b", "c"} {
			tracker.AddSamples(uid, []Sample{sample(seconds, seconds, 100)})
		}
		var uids []types.UID
		for _, w := range tracker.DueWrites(after(seconds), time.Minute, 2) {
			uids = append(uids, w.UID)
			tracker.ConfirmWrite(w)
		}
		return uids
	}
	for i, step := range []struct {
		pause float64
		want  []types.UID
	}{{100, []types.UID{"a", "b"}}, {1, []types.UID{"c"}}, {1, nil}, {58, []types.UID{"a", "b"}}, {1, []types.UID{"c"}}} {
		if got := due(step.pause); !cmp.Equal(got, step.want) {
			t.Errorf("step %d: %v are written, want %v", i, got, step.want)
		}
	}
	tracker.Observe(job, endPod(pods["c"], after(seconds+5)), observedAt)
	if got := due(10); !cmp.Equal(got, []types.UID{"c"}) {
		t.Errorf("%v are written, want the pod that has ended", got)
	}
	if got := due(10); got != nil {
		t.Errorf("%v are written, although nothing has changed", got)
	}
	if nodes, running := tracker.RunningNodes(); !cmp.Equal(nodes, []string{"node-1"}) || running != 3 {
		t.Errorf("%d pods run on %v", running, nodes)
	}
}
