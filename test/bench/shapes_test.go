package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
)

const (
	shapeBatch   = 400 // pods of one kind at a time: kinds take turns, so that a busy machine is busy for all
	shapeBatches = 8
	// dearestPod is how many times as many bytes the API server may take for a pod of a job as for one of the bare loop. It is ours, and there to
	// notice when pods get more labels.
	dearestPod = 1.4
)

// podCost is what one pod cost the process of the API server: etcd, watches and the client included.
type podCost struct{ milliseconds, bytes, objects []float64 }

// TestPodShapes: what the labels, annotations and the owner of a job's pod cost the API server, whoever creates it. A job of 10,000 pods is compared with a
// loop whose pods have none of these, so this is how much of that loop's speed is left for a vcd that takes no time itself. What is allocated is the
// same in each run, also on a busy machine; of the processor time the least of all batches is told.
func TestPodShapes(t *testing.T) {
	skipUnlessAsked(t)
	r := startRig(t, 1)
	makeNamespace(t, r.core, "shapes")
	job := newJob("shapes", "job-0", largeJob, nil)
	batchv1alpha1.SetJobID(job, 1)
	if err := r.ours.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	var made int
	create := func(pod func(i int) *corev1.Pod, into *podCost) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		used, from := cpuTime(t, os.Getpid()), made
		inParallel(t, shapeBatch, func(ctx context.Context, i int) error {
			_, err := r.core.CoreV1().Pods("shapes").Create(ctx, pod(from+i), metav1.CreateOptions{})
			return err
		})
		made += shapeBatch
		eventually(t, time.Minute, "all pods are seen", func() bool { return r.pods.count("shapes").exist == made })
		used = cpuTime(t, os.Getpid()) - used
		runtime.ReadMemStats(&after)
		if into != nil {
			into.milliseconds = append(into.milliseconds, used.Seconds()*1000/shapeBatch)
			into.bytes = append(into.bytes, float64(after.TotalAlloc-before.TotalAlloc)/shapeBatch)
			into.objects = append(into.objects, float64(after.Mallocs-before.Mallocs)/shapeBatch)
		}
	}
	spec := podSpec("nobody")
	bare := func(i int) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("bare-%d", i)}, Spec: spec}
	}
	ours := func(i int) *corev1.Pod {
		return plan.Pod(job, plugin.Set{}, plan.Place{Index: int32(i)}, false)
	}
	create(bare, nil) // what is made once, is
	create(ours, nil)
	var costBare, costOurs podCost
	for range shapeBatches {
		create(bare, &costBare)
		create(ours, &costOurs)
	}
	middle := func(x []float64) float64 { return slices.Sorted(slices.Values(x))[len(x)/2] }
	for _, c := range []struct {
		name string
		cost podCost
		size int
	}{{"bare", costBare, r.kept(t, "bare-0")}, {"a job's", costOurs, r.kept(t, ours(shapeBatch).Name)}} {
		t.Logf("%s: %d bytes are kept; %.0f bytes and %.0f objects allocated, %.3f ms", c.name, c.size, middle(c.cost.bytes), middle(c.cost.objects), slices.Min(c.cost.milliseconds))
	}
	share := middle(costBare.bytes) / middle(costOurs.bytes)
	t.Logf("bare over a job's: %.2f in bytes, %.2f in objects, %.2f in processor time", share, middle(costBare.objects)/middle(costOurs.objects),
		slices.Min(costBare.milliseconds)/slices.Min(costOurs.milliseconds))
	if 1/share > dearestPod {
		t.Errorf("a job's pod takes %.2f times the bytes of a bare one, at most %.2f are meant: has it more labels or annotations than it needs?", 1/share, dearestPod)
	}
}

// kept is the size of a pod as the API server keeps it.
func (r *rig) kept(t *testing.T, name string) int {
	t.Helper()
	pod, err := r.core.CoreV1().Pods("shapes").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod.Size()
}
