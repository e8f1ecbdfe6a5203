package sim

import (
	"fmt"

	"k8s.io/utils/ptr"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

func init() {
	registerAction("submit-elastic", 3, func(s *drawing) *action {
		job := drawElasticJob(s)
		return s.action(func(w *World) { w.users.submit(job) }, "user submits the elastic job %s to namespace %s: %s", job.Name, job.Namespace, describeJob(job))
	})
}

// drawElasticJob draws a job that starts with few of its many pods. Often, not all of them fit at the same time into the
// cluster, the queue or the quota of the namespace.
func drawElasticJob(s *drawing) *batchv1alpha1.Job {
	queue := s.queueNames()[s.IntN(len(s.queueNames()))]
	name, namespace, most := "", userNamespace, int32(15)
	if s.IntN(3) == 0 {
		s.small++
		name, namespace, most = fmt.Sprintf("small-%d", s.small), smallNamespace, 4
	} else {
		name = s.newJobName()
	}
	job := newSimpleJob(name, queue, 2+s.Int32N(most), []string{"500m", "1", "2"}[s.IntN(3)])
	job.Namespace = namespace
	job.Spec.MinAvailable = 1 + s.Int32N(min(3, job.Spec.Tasks[0].Replicas))
	if s.IntN(2) == 0 { // both tasks have a minimum that counts
		second := batchv1alpha1.TaskSpec{Name: "t1", Replicas: 1 + s.Int32N(3)}
		second.Template.Spec = newPodSpec([]string{"500m", "1"}[s.IntN(2)])
		second.MinAvailable = ptr.To(1 + s.Int32N(second.Replicas))
		job.Spec.Tasks[0].MinAvailable = ptr.To(job.Spec.MinAvailable)
		job.Spec.MinAvailable += *second.MinAvailable
		job.Spec.Tasks = append(job.Spec.Tasks, second)
	}
	return job
}
