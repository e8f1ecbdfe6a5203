package bench

import (
	"fmt"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/bench/figures"
)

// deletedPods is the size of the smaller of two deleted jobs. The other one has four times as many pods.
const deletedPods = 1_000

// TestDeletion compares the cost of the deletion of two jobs for the controllers. One job has four times as many pods.
// The cost must grow linearly with the pods, not with their square. Processor time hardly depends on other load on the
// machine.
func TestDeletion(t *testing.T) {
	skipUnlessAsked(t)
	r := startRig(t, 1)
	makeNamespace(t, r.core, "volcano-system") // where job numbers are assigned
	r.openQueue(t)
	r.letAllIn(t)
	daemon := r.startVCD(t, "controllers")
	r.deletion(t, daemon, 200, 0) // the garbage collector discovers the kinds
	var growth []float64
	for round := range rounds() {
		small, large := r.deletion(t, daemon, deletedPods, round), r.deletion(t, daemon, 4*deletedPods, round)
		growth = append(growth, large.Seconds()/small.Seconds())
	}
	take(t, figures.DeletionGrowth, 0, growth...)
}

// deletion creates a job, deletes it in the foreground, and returns the controllers' processor time for the deletion.
func (r *rig) deletion(t *testing.T, daemon *vcd, pods, round int) time.Duration {
	t.Helper()
	namespace := fmt.Sprintf("deleted-%d-%d", pods, round)
	makeNamespace(t, r.core, namespace)
	job := newJob(namespace, "job", pods, nil)
	batchv1alpha1.SetJobID(job, int64(pods+round))
	if err := r.ours.Create(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	eventually(t, 5*time.Minute, fmt.Sprintf("all %d pods exist", pods), func() bool { return r.pods.count(namespace).exist == pods })
	quiet(t, daemon)
	used, profiled := cpuTime(t, daemon.process.Process.Pid), daemon.profile(t, namespace)
	began := time.Now()
	if err := r.ours.Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Minute, fmt.Sprintf("the job of %d pods is gone", pods), func() bool {
		return apierrors.IsNotFound(r.ours.Get(t.Context(), client.ObjectKeyFromObject(job), &batchv1alpha1.Job{}))
	})
	took := time.Since(began)
	used = cpuTime(t, daemon.process.Process.Pid) - used
	profiled()
	t.Logf("round %d, %d pods: gone after %s, controllers %s, %.3f ms a pod", round, pods, short(took), short(used), used.Seconds()*1000/float64(pods))
	return used
}
