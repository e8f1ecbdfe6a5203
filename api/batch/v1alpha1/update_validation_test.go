package v1alpha1

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestChangesOfAJobThatMayBe(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Job){
		"nothing":           func(*Job) {},
		"labels and status": func(j *Job) { j.Labels, j.Status.Pending = map[string]string{"a": "b"}, 1 },
		"more replicas":     func(j *Job) { j.Spec.Tasks[0].Replicas = 9 },
		"fewer replicas and a smaller gang": func(j *Job) {
			j.Spec.Tasks[0].Replicas, j.Spec.Tasks[0].MinAvailable, j.Spec.MinAvailable = 1, new(int32(1)), 1
		},
		"another gang":                          func(j *Job) { j.Spec.MinAvailable = 1 },
		"another priority class":                func(j *Job) { j.Spec.PriorityClassName = "high" },
		"the name of a claim that was made":     func(j *Job) { j.Spec.Volumes[0].VolumeClaimName = "train-pvc-1" },
		"written back without what is defaults": func(j *Job) { j.Spec.SchedulerName, j.Spec.MaxRetry, j.Spec.Tasks[0].MaxRetry = "", 0, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := jobOf(withVolume, "a", "b")
			updated := old.DeepCopy()
			change(updated)
			if errs := ValidateJobUpdate(old, updated); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func TestChangesOfAJobThatMayNotBe(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change      func(*Job)
		where, what string
	}{
		"the queue":                     {func(j *Job) { j.Spec.Queue = "other" }, "spec.queue", onlyThese},
		"a template's image":            {func(j *Job) { container(j).Image = "other" }, "spec.tasks[0].template.spec.containers[0].image", onlyThese},
		"one environment variable more": {func(j *Job) { container(j).Env = []corev1.EnvVar{{Name: "a"}} }, "spec.tasks[0].template.spec.containers[0].env", onlyThese},
		"a label of the pods":           {func(j *Job) { j.Spec.Tasks[0].Template.Labels = map[string]string{"a": "b"} }, "spec.tasks[0].template.metadata.labels[a]", onlyThese},
		"a plugin's arguments":          {func(j *Job) { j.Spec.Plugins = map[string][]string{"ssh": nil} }, "spec.plugins[ssh]", onlyThese},
		"a policy":                      {func(j *Job) { policies(j, code(1)) }, "spec.tasks[0].policies", onlyThese},
		"a request":                     {func(j *Job) { requests(j, "cpu", "7") }, "spec.tasks[0].template.spec.containers[0].resources.requests[cpu]", onlyThese},
		"a time to live":                {func(j *Job) { j.Spec.TTLSecondsAfterFinished = new(int32(1)) }, "spec.ttlSecondsAfterFinished", onlyThese},
		"an estimate":                   {func(j *Job) { j.Spec.RunningEstimate = &metav1.Duration{Duration: 1} }, "spec.runningEstimate", onlyThese},
		"the name of a task":            {func(j *Job) { j.Spec.Tasks[0].Name = "c" }, "spec.tasks[0].name", onlyThese},
		"a claim that is there":         {func(j *Job) { j.Spec.Volumes[1].VolumeClaimName = "d" }, "spec.volumes[1].volumeClaimName", onlyThese},
		"a task more":                   {func(j *Job) { j.Spec.Tasks = append(j.Spec.Tasks, j.Spec.Tasks[0]) }, "spec.tasks", "job updates may not add or remove tasks: the job has 2 tasks, and the update has 3 tasks"},
		"replicas below the minimum":    {func(j *Job) { j.Spec.Tasks[0].Replicas = 1 }, "spec.tasks[0].minAvailable", "is greater than 'replicas' in task: a"},
		"negative replicas":             {func(j *Job) { j.Spec.Tasks[0].Replicas = -1 }, "spec.tasks[0].replicas", "must not be negative"},
		"a gang over the replicas":      {func(j *Job) { j.Spec.MinAvailable = 5 }, "spec.minAvailable", "should not be greater than total replicas"},
		"a gang below nothing":          {func(j *Job) { j.Spec.MinAvailable = -5 }, "spec.minAvailable", "must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := jobOf(withVolume, "a", "b")
			updated := old.DeepCopy()
			test.change(updated)
			requireError(t, ValidateJobUpdate(old, updated), test.where, test.what)
		})
	}
}

func TestAPartitionedTaskIsNotScaledWithoutItsPartitions(t *testing.T) {
	t.Parallel()
	old := jobOf(func(j *Job) { j.Spec.Tasks[0].PartitionPolicy = partitions(2, 1, 0, nil) }, "a")
	updated := old.DeepCopy()
	updated.Spec.Tasks[0].Replicas = 4
	requireError(t, ValidateJobUpdate(old, updated), "spec.tasks[0].replicas", "'Replicas' are not equal")
}

func TestAPartitionedTaskIsScaledByWholePartitions(t *testing.T) {
	t.Parallel()
	old := jobOf(func(j *Job) { j.Spec.Tasks[0].Replicas, j.Spec.Tasks[0].PartitionPolicy = 4, partitions(2, 2, 0, nil) }, "a")
	updated := old.DeepCopy()
	updated.Spec.Tasks[0].Replicas, updated.Spec.Tasks[0].PartitionPolicy.TotalPartitions = 6, 3
	if errs := ValidateJobUpdate(old, updated); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
	updated.Spec.Tasks[0].PartitionPolicy.TotalPartitions, updated.Spec.Tasks[0].PartitionPolicy.PartitionSize = 2, 3
	requireError(t, ValidateJobUpdate(old, updated), "spec.tasks[0].partitionPolicy.partitionSize", onlyThese)
}

func TestAnOldJobThatIsNotValidAnyMoreMayStillChangeItsLabels(t *testing.T) {
	t.Parallel()
	old := jobOf(func(j *Job) { j.Spec.MinAvailable = 9 }, "a")
	updated := old.DeepCopy()
	updated.Finalizers = nil
	updated.Labels = map[string]string{"a": "b"}
	if errs := ValidateJobUpdate(old, updated); len(errs) > 0 {
		t.Error(errs.ToAggregate())
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Job)
		want   int
	}{
		"nothing odd":                     {nil, 0},
		"nothing will run":                {func(j *Job) { j.Spec.Tasks[0].Replicas = 0 }, 1},
		"more successes than pods":        {func(j *Job) { j.Spec.MinSuccess = new(int32(5)) }, 1},
		"a job without an end":            {func(j *Job) { j.Spec.Tasks[0].Template.Spec.RestartPolicy = "" }, 1},
		"an end by a policy":              {func(j *Job) { j.Spec.Tasks[0].Template.Spec.RestartPolicy = ""; policies(j, event("TaskCompleted")) }, 0},
		"a pending pod without a timeout": {func(j *Job) { policies(j, event("PodPending")) }, 1},
		"a pending pod with a timeout":    {func(j *Job) { p := event("PodPending"); p.Timeout = &metav1.Duration{}; policies(j, p) }, 0},
		"two schedulers":                  {func(j *Job) { j.Spec.Tasks[0].Template.Spec.SchedulerName = "other" }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := JobWarnings(jobOf(test.change, "a")); len(got) != test.want {
				t.Errorf("want %d warnings, got %q", test.want, got)
			}
		})
	}
}

func withVolume(j *Job) {
	j.Spec.Volumes = []VolumeSpec{{MountPath: "/made", VolumeClaim: &corev1.PersistentVolumeClaimSpec{}}, {MountPath: "/there", VolumeClaimName: "c"}}
}

func TestOfAHeldJobQueueTimeLimitAndNodesMayChange(t *testing.T) {
	t.Parallel()
	change := func(j *Job) {
		j.Spec.Queue, j.Spec.RunningEstimate = "other", &metav1.Duration{Duration: 1}
		j.Spec.Tasks[0].Template.Spec.ActiveDeadlineSeconds = new(int64(60))
	}
	chooseNodes := func(j *Job) {
		nodes := &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}}}}
		j.Spec.Tasks[0].Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: nodes}}
	}
	for name, c := range map[string]struct {
		state  JobState
		ran    bool
		passes bool
	}{
		"held":                         {JobState{Phase: Pending, Reason: "JobHeldUser"}, false, true},
		"waiting for another":          {JobState{Phase: Pending, Reason: "Dependency"}, false, true},
		"waiting for room":             {JobState{Phase: Pending}, false, false},
		"running":                      {JobState{Phase: Running, Reason: "JobHeldUser"}, false, false},
		"held after it had once begun": {JobState{Phase: Pending, Reason: "JobHeldUser"}, true, false},
	} {
		old := jobOf(withVolume, "a", "b")
		old.Status.State = c.state
		if c.ran {
			old.Status.Conditions = []JobCondition{{Status: Running}}
		}
		updated := old.DeepCopy()
		change(updated)
		if errs := ValidateJobUpdate(old, updated); (len(errs) == 0) != c.passes {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
		chosen := old.DeepCopy()
		chooseNodes(chosen)
		if errs := ValidateJobUpdate(old, chosen); (len(errs) == 0) != c.passes {
			t.Errorf("%s, other nodes: %v", name, errs.ToAggregate())
		}
		image := old.DeepCopy()
		container(image).Image = "other"
		if errs := ValidateJobUpdate(old, image); len(errs) == 0 {
			t.Errorf("%s: another image passes", name)
		}
	}
}

func TestTimeLimitsMayOnlyBecomeShorter(t *testing.T) {
	t.Parallel()
	limits := func(estimate time.Duration, seconds int64) func(*Job) {
		return func(j *Job) {
			if estimate > 0 {
				j.Spec.RunningEstimate = &metav1.Duration{Duration: estimate}
			}
			if seconds > 0 {
				j.Spec.Tasks[0].Template.Spec.ActiveDeadlineSeconds = &seconds
			}
		}
	}
	for name, c := range map[string]struct {
		old, updated func(*Job)
		passes       bool
	}{
		"both shorter":             {limits(time.Hour, 3600), limits(time.Minute, 60), true},
		"a limit where none was":   {limits(0, 0), limits(0, 60), true},
		"an estimate more":         {limits(0, 60), limits(time.Minute, 60), false},
		"a longer time limit":      {limits(time.Hour, 3600), limits(time.Hour, 3601), false},
		"a longer estimate":        {limits(time.Hour, 3600), limits(2*time.Hour, 3600), false},
		"a time limit less":        {limits(time.Hour, 3600), limits(time.Hour, 0), false},
		"an estimate less":         {limits(time.Hour, 3600), limits(0, 3600), false},
		"a time limit of nothing":  {limits(time.Hour, 3600), func(j *Job) { limits(time.Hour, 1)(j); *j.Spec.Tasks[0].Template.Spec.ActiveDeadlineSeconds = -1 }, false},
		"shorter, and a new image": {limits(time.Hour, 3600), func(j *Job) { limits(time.Minute, 60)(j); container(j).Image = "other" }, false},
	} {
		old, updated := jobOf(c.old, "a", "b"), jobOf(c.updated, "a", "b")
		old.Status.State.Phase = Running
		if errs := ValidateJobUpdate(old, updated); (len(errs) == 0) != c.passes {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
	}
}
