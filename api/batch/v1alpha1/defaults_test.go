package v1alpha1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
)

func TestDefaultsOfAJob(t *testing.T) {
	t.Parallel()
	job := &Job{Spec: JobSpec{
		Plugins: map[string][]string{PluginMPI: {"--master=a"}, PluginSSH: {"--ssh-port=2222"}},
		Tasks: []TaskSpec{
			{Replicas: 3, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{HostNetwork: true}}},
			{Name: "b", Replicas: 4, MinAvailable: new(int32(1)), MaxRetry: -1},
			{Name: "c", Replicas: 6, PartitionPolicy: partitions(3, 2, 2, nil)},
		},
	}}
	DefaultJob(job, "")
	want := JobSpec{
		Queue: "default", SchedulerName: "volcano", MaxRetry: 3, MinAvailable: 3 + 1 + 4,
		Plugins: map[string][]string{PluginMPI: {"--master=a"}, PluginSSH: {"--ssh-port=2222"}, PluginService: {}},
		Tasks: []TaskSpec{
			{Name: "default0", Replicas: 3, MinAvailable: new(int32(3)), MaxRetry: 3, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				HostNetwork: true, DNSPolicy: corev1.DNSClusterFirstWithHostNet,
			}}},
			{Name: "b", Replicas: 4, MinAvailable: new(int32(1)), MaxRetry: -1},
			{Name: "c", Replicas: 6, MinAvailable: new(int32(4)), MaxRetry: 3, PartitionPolicy: partitions(3, 2, 2, nil)},
		},
	}
	if diff := cmp.Diff(want, job.Spec); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsSaidStays(t *testing.T) {
	t.Parallel()
	job := jobOf(func(j *Job) {
		j.Spec.Queue, j.Spec.SchedulerName, j.Spec.MaxRetry, j.Spec.MinAvailable = "q", "mine", 7, 1
	}, "a")
	if s := job.Spec; s.Queue != "q" || s.SchedulerName != "mine" || s.MaxRetry != 7 || s.MinAvailable != 1 {
		t.Errorf("changed: %+v", s)
	}
}

func TestDefaultingTwiceChangesNothingAndKeepsJobsValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		job := jobOf(nil)
		for i := range rapid.IntRange(1, 5).Draw(t, "tasks") {
			task := jobOf(nil, DefaultTaskName(i)).Spec.Tasks[0]
			task.Replicas = rapid.Int32Range(0, 50).Draw(t, "replicas")
			task.MinAvailable = nil
			if rapid.Bool().Draw(t, "named minimum") {
				task.MinAvailable = new(rapid.Int32Range(0, task.Replicas).Draw(t, "minAvailable"))
			}
			if rapid.Bool().Draw(t, "no name") {
				task.Name = ""
			}
			job.Spec.Tasks = append(job.Spec.Tasks, task)
		}
		job.Spec.MinAvailable = 0
		DefaultJob(job, "")
		once := job.DeepCopy()
		DefaultJob(job, "another")
		if diff := cmp.Diff(once, job); diff != "" {
			t.Error(diff)
		}
		if errs := ValidateJob(job, nil); len(errs) > 0 {
			t.Error(errs.ToAggregate())
		}
	})
}
