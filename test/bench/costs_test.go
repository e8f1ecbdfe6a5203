package bench

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/bench/figures"
)

// eachRequest is the number of requests of each kind.
const eachRequest = 2000

// TestRequestCosts measures the processor time of one request of each kind that a job of one pod needs. It is measured
// with fifty workers, in the process of the API server, which includes etcd, the simulated nodes and the client. For
// the webhooks of a Job, the cost on both sides is reported.
func TestRequestCosts(t *testing.T) {
	skipUnlessAsked(t)
	r := startRig(t, 10)
	kinds := r.installJobKinds(t)
	makeNamespace(t, r.core, "warm")
	r.bareLoop(t, "warm", 300)
	makeNamespace(t, r.core, "cost")
	spec, costs := podSpec("nobody"), map[string][]float64{}
	jobs := make([]*batchv1alpha1.Job, eachRequest)
	for round := range rounds() {
		name := func(i int) string { return fmt.Sprintf("r%d-%d", round, i) }
		cost := func(what string, do func(ctx context.Context, i int) error) {
			costs[what] = append(costs[what], r.costOf(t, what, do))
		}
		cost(figures.CreatePod, func(ctx context.Context, i int) error {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name(i)}, Spec: spec}
			_, err := r.core.CoreV1().Pods("cost").Create(ctx, pod, metav1.CreateOptions{})
			return err
		})
		cost(figures.BindPod, func(ctx context.Context, i int) error {
			return r.core.CoreV1().Pods("cost").Bind(ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Namespace: "cost", Name: name(i)},
				Target:     corev1.ObjectReference{Kind: "Node", Name: r.nodes[i%len(r.nodes)]},
			}, metav1.CreateOptions{})
		})
		for _, k := range kinds {
			cost(k.figure, func(ctx context.Context, i int) error {
				return k.client.Create(ctx, newJob("cost", name(i), 1, nil))
			})
		}
		cost(figures.CreateJob, func(ctx context.Context, i int) error {
			jobs[i] = newJob("cost", name(i), 1, nil)
			return r.ours.Create(ctx, jobs[i])
		})
		cost(figures.WriteJobStatus, func(ctx context.Context, i int) error {
			jobs[i].Status = batchv1alpha1.JobStatus{State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running}, MinAvailable: 1, Running: 1, Version: 1}
			return r.ours.Status().Update(ctx, jobs[i])
		})
		cost(figures.CreatePodGroup, func(ctx context.Context, i int) error { return r.createGang(ctx, "cost", name(i), 1) })
		cost(figures.PatchPodGroup, func(ctx context.Context, i int) error {
			return letIn(ctx, r.ours, &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "cost", Name: name(i)}})
		})
		cost(figures.CreateEvent, func(ctx context.Context, i int) error {
			_, err := r.core.CoreV1().Events("cost").Create(ctx, &corev1.Event{
				ObjectMeta:     metav1.ObjectMeta{Name: name(i)},
				InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: "cost", Name: name(i)},
				Reason:         "Scheduled", Message: "bound to a node", Type: corev1.EventTypeNormal, Count: 1,
			}, metav1.CreateOptions{})
			return err
		})
	}
	r.costOfWebhooks(t, costs)
	for _, what := range slices.Sorted(maps.Keys(costs)) {
		take(t, what, 0, costs[what]...)
	}
}

// costOf returns the cost of a request in milliseconds. It includes the work that follows the request, such as watch
// events.
func (r *rig) costOf(t *testing.T, what string, do func(ctx context.Context, i int) error) float64 {
	t.Helper()
	profiled := profileSelf(t, strings.ReplaceAll(what, " ", "-"))
	used := cpuTime(t, os.Getpid())
	took := inParallel(t, eachRequest, do)
	used = cpuTime(t, os.Getpid()) - used
	profiled()
	each := used.Seconds() * 1000 / eachRequest
	t.Logf("%s: %.3f ms of processor time, %s for all", what, each, short(took))
	return each
}

// costOfWebhooks adds the cost of defaulting and validating a Job: the cost of creates with webhooks minus that
// without.
func (r *rig) costOfWebhooks(t *testing.T, costs map[string][]float64) {
	t.Helper()
	makeNamespace(t, r.core, "volcano-system") // where job numbers are assigned
	r.openQueue(t)
	daemon := r.startVCD(t, "admission", "--webhook-listen-address", "127.0.0.1:0")
	eventually(t, time.Minute, "the webhooks are asked", func() bool {
		bad := newJob("cost", "bad", 1, nil)
		bad.Spec.Queue = "none"
		return r.ours.Create(t.Context(), bad) != nil
	})
	for round := range rounds() {
		profiled := daemon.profile(t, fmt.Sprintf("webhooks-%d", round))
		own := cpuTime(t, daemon.process.Process.Pid)
		used := cpuTime(t, os.Getpid())
		inParallel(t, eachRequest, func(ctx context.Context, i int) error {
			return r.ours.Create(ctx, newJob("cost", fmt.Sprintf("hooked%d-%d", round, i), 1, nil))
		})
		used, own = cpuTime(t, os.Getpid())-used, cpuTime(t, daemon.process.Process.Pid)-own
		profiled()
		here, there := used.Seconds()*1000/eachRequest-costs[figures.CreateJob][round], own.Seconds()*1000/eachRequest
		t.Logf("webhooks: %.3f ms here, %.3f ms in vcd", here, there)
		costs[figures.WebhooksHere] = append(costs[figures.WebhooksHere], here)
		costs[figures.WebhooksThere] = append(costs[figures.WebhooksThere], there)
	}
}

// profileSelf writes a CPU profile of this process to the directory in VC_BENCH_PROFILE, if that is set.
func profileSelf(t *testing.T, name string) (stop func()) {
	t.Helper()
	dir := os.Getenv("VC_BENCH_PROFILE")
	if dir == "" {
		return func() {}
	}
	file, err := os.Create(filepath.Join(dir, name+".cluster.pprof"))
	if err != nil {
		t.Fatal(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		t.Errorf("profile of the cluster: %v", err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}
}
