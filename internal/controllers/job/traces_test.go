package job

import (
	"encoding/hex"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/jobtrace"
	"github.com/vc-batch/vc/internal/traceexport"
	"github.com/vc-batch/vc/test/tracereceiver"
)

// sendTraces lets the world's controller send traces to an endpoint.
func (w *world) sendTraces(t *testing.T, endpoint string) {
	t.Helper()
	exporter, err := traceexport.New(t.Context(), traceexport.Options{Endpoint: endpoint, Log: logr.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		exporter.Run(t.Context())
	}()
	t.Cleanup(func() { <-ended })
	w.traces = exporter
	w.start()
}

// place lets the scheduler place the gang and bind a pod, and lets the kubelet start it.
func (w *world) place(name string) {
	w.clock = w.clock.Add(time.Second)
	group := w.groupOf(w.truth()).DeepCopy()
	if group.Status.Phase != schedulingv1beta1.PodGroupRunning {
		group.Status.Phase = schedulingv1beta1.PodGroupRunning
		group.Status.Conditions = []schedulingv1beta1.PodGroupCondition{{Type: schedulingv1beta1.PodGroupScheduledType, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.clock)}}
		w.server.Save(group)
	}
	bound := w.clock.Add(time.Second)
	w.clock = bound.Add(2 * time.Second)
	w.kubelet(name, 0)
	pod := w.pod(name).DeepCopy()
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(bound)}}
	pod.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(w.clock)
	w.server.Save(pod)
}

// turns lets the controller act until nothing is left to do.
func (w *world) turns(t *testing.T) {
	t.Helper()
	for range 4 {
		w.turn(t, watched...)
	}
}

// startJob admits, places and starts the only pod of the job.
func (w *world) startJob(t *testing.T) {
	t.Helper()
	w.turns(t)
	w.schedule(schedulingv1beta1.PodGroupInqueue)
	w.turns(t)
	w.place("job-w-0")
	w.turns(t)
}

// namesOf returns the names of spans, in order.
func namesOf(spans []*tracev1.Span) string {
	var names []string
	for _, s := range spans {
		names = append(names, s.GetName())
	}
	return strings.Join(names, " ")
}

// traceIDs returns the different trace IDs of spans.
func traceIDs(spans []*tracev1.Span) map[string]bool {
	ids := map[string]bool{}
	for _, s := range spans {
		ids[hex.EncodeToString(s.GetTraceId())] = true
	}
	return ids
}

func TestAnEndedJobHasOneTrace(t *testing.T) {
	t.Parallel()
	restart := batchv1alpha1.LifecyclePolicy{Event: busv1alpha1.PodFailedEvent, Action: busv1alpha1.RestartJobAction}
	for _, tc := range []struct {
		name string
		run  func(*testing.T, *world)
		want string
	}{
		{"completed", func(t *testing.T, w *world) {
			w.startJob(t)
			w.kubelet("job-w-0", 0)
			w.turns(t)
		}, "job held queued admitted placed bound running"},
		{"restarted once", func(t *testing.T, w *world) {
			w.startJob(t)
			w.kubelet("job-w-0", 1)
			w.turns(t)
			w.kubelet("job-w-0", 1)
			w.startJob(t)
			w.kubelet("job-w-0", 0)
			w.turns(t)
		}, "job held queued admitted placed bound running retry restarting queued admitted placed bound running"},
		{"terminated", func(t *testing.T, w *world) {
			w.startJob(t)
			w.command(1, busv1alpha1.TerminateJobAction)
			w.turns(t)
			w.kubelet("job-w-0", 0)
			w.kubelet("job-w-0", 0)
			w.turns(t)
		}, "job held queued admitted placed bound running stopping"},
		{"restarted controller", func(t *testing.T, w *world) {
			w.startJob(t)
			w.restart(0)
			w.turns(t)
			w.kubelet("job-w-0", 0)
			w.turns(t)
		}, "job held queued admitted placed bound running"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			receiver := tracereceiver.Start(t)
			job := simpleJob(1, restart)
			job.Spec.MaxRetry = 3
			w := newWorld(job)
			w.sendTraces(t, receiver.URL())
			w.clock = w.clock.Add(20 * time.Second) // the job is held for so long
			tc.run(t, w)
			ended := w.truth()
			if !jobtrace.HasEnded(ended.Status.State.Phase) {
				t.Fatalf("phase %s:\n%s", ended.Status.State.Phase, strings.Join(w.trace, "\n"))
			}
			receiver.WaitForSpans(t, len(strings.Fields(tc.want)))
			w.turns(t)
			w.restart(0)
			w.turns(t)
			time.Sleep(100 * time.Millisecond) // another trace would have been sent
			spans := receiver.Spans()
			if diff := cmp.Diff(tc.want, namesOf(spans)); diff != "" {
				t.Errorf("spans (-want +got):\n%s\n%s", diff, strings.Join(w.trace, "\n"))
			}
			id := jobtrace.TraceID(ended.UID).String()
			if ids := traceIDs(spans); len(ids) != 1 || !ids[id] {
				t.Errorf("traces %v, want only %s", ids, id)
			}
		})
	}
}

func TestACollectorThatDoesNotAnswerDelaysNoReconcile(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and never answers
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	for _, endpoint := range []string{"http://" + listener.Addr().String(), "http://127.0.0.1:1"} {
		w := newWorld(simpleJob(1))
		w.sendTraces(t, endpoint)
		begin := time.Now()
		w.startJob(t)
		w.kubelet("job-w-0", 0)
		w.turns(t)
		if phase := w.truth().Status.State.Phase; phase != batchv1alpha1.Completed {
			t.Errorf("phase %s:\n%s", phase, strings.Join(w.trace, "\n"))
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("with %s, the job took %s", endpoint, took)
		}
	}
}
