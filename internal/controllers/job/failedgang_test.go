package job

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// TestALostPodDoesNotWaitForOnesThatFailed covers a gang with a failed pod, which is never complete again. A re-created
// pod must not wait for it forever; the job must end as it would without the loss.
func TestALostPodDoesNotWaitForOnesThatFailed(t *testing.T) {
	t.Parallel()
	two := int32(2)
	for name, change := range map[string]func(*batchv1alpha1.Job){
		"all pods are needed":      func(*batchv1alpha1.Job) {},
		"two successes are enough": func(j *batchv1alpha1.Job) { j.Spec.MinSuccess = &two },
		"a task has a minimum":     func(j *batchv1alpha1.Job) { j.Spec.MinAvailable, j.Spec.Tasks[1].MinAvailable = 3, &two },
		"its pods come in partitions": func(j *batchv1alpha1.Job) {
			j.Spec.Tasks[1].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 3, PartitionSize: 1, MinPartitions: 3}
		},
		"the loss can be done without": func(j *batchv1alpha1.Job) { j.Spec.MinAvailable = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, _ := endOfGangWithAFailure(t, change, false)
			got, trace := endOfGangWithAFailure(t, change, true)
			if want != got {
				t.Errorf("phase %s, want %s as without the loss:\n%s", got, want, trace)
			}
		})
	}
}

// endOfGangWithAFailure returns the final phase of a job of which one pod fails and, optionally, another is lost.
func endOfGangWithAFailure(t *testing.T, change func(*batchv1alpha1.Job), lost bool) (batchv1alpha1.JobPhase, string) {
	t.Helper()
	job := simpleJob(1)
	job.Spec.Tasks = append(job.Spec.Tasks, batchv1alpha1.TaskSpec{Name: "x", Replicas: 3, Template: job.Spec.Tasks[0].Template})
	change(job)
	w := begun(t, job)
	w.kubelet("job-w-0", 3)
	w.turn(t, watched...)
	if lost {
		w.evict("job-x-0")
		w.kubelet("job-x-0", 0)
		w.kubelet("job-x-0", 0)
		for range 3 {
			w.turn(t, watched...)
		}
		if pod := w.pod("job-x-0"); pod == nil || pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodRunning {
			t.Fatalf("the lost pod was not made again:\n%s", strings.Join(w.trace, "\n"))
		}
	}
	if err := w.calm(); err != nil {
		t.Fatal(err)
	}
	return w.truth().Status.State.Phase, strings.Join(w.trace, "\n")
}
