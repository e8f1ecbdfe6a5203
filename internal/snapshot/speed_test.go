package snapshot_test

import (
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/test/watchserver"
)

// boardOf returns a board with all objects of a cluster.
func boardOf(t testing.TB, c watchserver.Cluster) *snapshot.Board {
	t.Helper()
	b := snapshot.NewBoard()
	for _, kind := range c.Kinds() {
		for i := range kind.Count {
			object := kind.Make(i)
			switch o := object.(type) {
			case *batchv1alpha1.Job:
				snapshot.SlimJob(o)
			case *schedulingv1beta1.PodGroup:
				snapshot.SlimGroup(o)
			}
			if err := b.StoreObject(object); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

// BenchmarkFreeze takes a snapshot of 5,000 nodes, 10,000 jobs and 100,000 pods after changes of a thousand pods and a
// hundred jobs.
func BenchmarkFreeze(b *testing.B) {
	c := watchserver.Cluster{Nodes: 5000, Jobs: 10_000, Pods: 10, Now: time.Date(2026, 11, 21, 21, 53, 39, 0, time.UTC)}
	board := boardOf(b, c)
	board.TakeSnapshot(c.Now, snapshot.Facts{})
	round := 0
	for b.Loop() {
		b.StopTimer()
		round++
		var pods []*snapshot.Pod
		var jobs []*batchv1alpha1.Job
		for i := range 1000 {
			pods = append(pods, snapshot.FromPod(c.Pod((i*97+round)%(c.Jobs*c.Pods))))
		}
		for i := range 100 {
			job := c.Job((i*89 + round) % c.Jobs)
			snapshot.SlimJob(job)
			jobs = append(jobs, job)
		}
		b.StartTimer()
		for _, pod := range pods {
			board.SetPod(pod)
		}
		for _, job := range jobs {
			board.SetJob(job)
		}
		board.TakeSnapshot(c.Now, snapshot.Facts{})
	}
}
