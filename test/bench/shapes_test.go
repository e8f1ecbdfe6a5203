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
	shapeBatch   = 400 // pods of one kind in a row: the kinds alternate, so that other load affects all of them
	shapeBatches = 8
	// dearestPod limits the bytes that the API server allocates for a pod of a job, relative to a pod of the bare loop.
	// It is our own limit, and detects additional labels on pods.
	dearestPod = 1.4
)

// podCost is the cost of one pod in the process of the API server, including etcd, watches and the client.
type podCost struct{ milliseconds, bytes, objects []float64 }

// TestPodShapes measures the cost of the labels, annotations and owner of a job's pod for the API server. A job of
// 10,000 pods is compared with a loop whose pods have none of them, so the result is the best possible share of that
// loop's speed. Allocations are the same in each run, even on a busy machine. For processor time, the minimum of all
// batches is reported.
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
		return plan.NewPodForPlace(job, plugin.Set{}, plan.Place{Index: int32(i)}, false)
	}
	create(bare, nil) // excludes one-time allocations
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

// kept returns the size of a stored pod in the API server.
func (r *rig) kept(t *testing.T, name string) int {
	t.Helper()
	pod, err := r.core.CoreV1().Pods("shapes").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod.Size()
}
