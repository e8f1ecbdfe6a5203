package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
)

// podOf returns the second pod of the job's first task.
func podOf(change func(*batchv1alpha1.Job), forwarding bool) *corev1.Pod {
	return NewPodForPlace(given(batchv1alpha1.Pending).with(change).defaulted(), plugin.Set{}, Place{Index: 1}, forwarding)
}

// TestWhatAPodTakesFromItsJob covers the labels and annotations that depend on settings of the job or its task.
func TestWhatAPodTakesFromItsJob(t *testing.T) {
	t.Parallel()
	annotated := func(pairs ...string) func(*batchv1alpha1.Job) {
		return func(j *batchv1alpha1.Job) {
			j.Annotations = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				j.Annotations[pairs[i]] = pairs[i+1]
			}
		}
	}
	labelled := func(key, value string) func(*batchv1alpha1.Job) {
		return func(j *batchv1alpha1.Job) { j.Labels = map[string]string{key: value} }
	}
	sized := func(size int32) func(*batchv1alpha1.Job) {
		return func(j *batchv1alpha1.Job) {
			j.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 2, PartitionSize: size}
		}
	}
	type marks = map[string]string
	tests := map[string]struct {
		change              func(*batchv1alpha1.Job)
		forwarding          bool
		labels, annotations marks
	}{
		"nothing":                          {change: func(*batchv1alpha1.Job) {}},
		"preemptable, as an annotation":    {change: annotated(keys.Preemptable, "true"), annotations: marks{keys.Preemptable: "true"}},
		"preemptable, as a label":          {change: labelled(keys.Preemptable, "false"), labels: marks{keys.Preemptable: "false"}},
		"its rest, as an annotation":       {change: annotated(keys.CooldownTime, "600s"), annotations: marks{keys.CooldownTime: "600s"}},
		"its rest, as a label":             {change: labelled(keys.CooldownTime, "600s"), labels: marks{keys.CooldownTime: "600s"}},
		"the zone that may be taken back":  {change: annotated(keys.RevocableZone, "*"), annotations: marks{keys.RevocableZone: "*"}},
		"how many must stay":               {change: annotated(keys.JDBMinAvailable, "50%"), annotations: marks{keys.JDBMinAvailable: "50%"}},
		"how many may go":                  {change: annotated(keys.JDBMaxUnavailable, "1"), annotations: marks{keys.JDBMaxUnavailable: "1"}},
		"how many must stay, before that":  {change: annotated(keys.JDBMaxUnavailable, "1", keys.JDBMinAvailable, "2"), annotations: marks{keys.JDBMinAvailable: "2"}},
		"other labels and annotations not": {change: annotated("mine", "yes")},
		"the job's number":                 {change: func(j *batchv1alpha1.Job) { batchv1alpha1.SetJobID(j, 42) }, labels: marks{keys.JobID: "42"}},
		"the account":                      {change: labelled(keys.Account, "physics"), labels: marks{keys.Account: "physics"}},
		"the user":                         {change: annotated(keys.User, "mei"), annotations: marks{keys.User: "mei"}},
		"the NUMA policy of the task":      {change: func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].TopologyPolicy = batchv1alpha1.Restricted }, annotations: marks{keys.NumaPolicy: "restricted"}},
		"the partition":                    {change: sized(1), labels: marks{keys.PartitionID: "1"}},
		"the first partition of two":       {change: sized(2), labels: marks{keys.PartitionID: "0"}},
		"a partition without a size":       {change: sized(0), labels: marks{keys.PartitionID: "0"}},
		"that it may go to another cluster": {change: func(*batchv1alpha1.Job) {}, forwarding: true, labels: marks{keys.JobForwarding: "true"},
			annotations: marks{keys.JobForwarding: "true", keys.ForwardCluster: ""}},
		"to which cluster it goes": {change: annotated(keys.ForwardCluster, "far"), forwarding: true, labels: marks{keys.JobForwarding: "true"},
			annotations: marks{keys.JobForwarding: "true", keys.ForwardCluster: "far"}},
		"to which cluster it goes, while its queue has none": {change: annotated(keys.ForwardCluster, "far")},
	}
	plain := podOf(func(*batchv1alpha1.Job) {}, false)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podOf(test.change, test.forwarding)
			more := func(from, than marks) marks {
				var rest marks
				for key, value := range from {
					if was, there := than[key]; !there || was != value {
						if rest == nil {
							rest = marks{}
						}
						rest[key] = value
					}
				}
				return rest
			}
			if diff := cmp.Diff(test.labels, more(pod.Labels, plain.Labels)); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.annotations, more(pod.Annotations, plain.Annotations)); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPodIsItsTemplateFirst(t *testing.T) {
	t.Parallel()
	pod := podOf(func(j *batchv1alpha1.Job) {
		j.Spec.PriorityClassName, j.Spec.SchedulerName = "low", "volcano"
		template := &j.Spec.Tasks[0].Template
		template.Labels, template.Annotations = map[string]string{"mine": "1", keys.JobName: "forged"}, map[string]string{"mine": "2"}
		template.Spec.PriorityClassName, template.Spec.SchedulerName = "high", "another"
	}, false)
	if pod.Spec.PriorityClassName != "high" || pod.Spec.SchedulerName != "another" || pod.Labels["mine"] != "1" || pod.Annotations["mine"] != "2" {
		t.Errorf("%s, %s, %v, %v", pod.Spec.PriorityClassName, pod.Spec.SchedulerName, pod.Labels, pod.Annotations)
	}
	if pod.Labels[keys.JobName] != "j" {
		t.Errorf("it says that it is of %s", pod.Labels[keys.JobName])
	}
}

// TestATemplateNamesNoAccount writes an account, a QOS and a user into the template of a job that has none. Admission checks
// these only in the job.
func TestATemplateNamesNoAccount(t *testing.T) {
	t.Parallel()
	pod := podOf(func(j *batchv1alpha1.Job) {
		template := &j.Spec.Tasks[0].Template
		template.Labels = map[string]string{keys.Account: "physics", keys.QOS: "high", "app": "web"}
		template.Annotations = map[string]string{keys.User: "ada", "note": "x"}
	}, false)
	for key, value := range map[string]string{keys.Account: pod.Labels[keys.Account], keys.QOS: pod.Labels[keys.QOS], keys.User: pod.Annotations[keys.User]} {
		if value != "" {
			t.Errorf("the pod has %s=%s", key, value)
		}
	}
	if pod.Labels["app"] != "web" || pod.Annotations["note"] != "x" {
		t.Errorf("labels %v, annotations %v", pod.Labels, pod.Annotations)
	}
}

func TestATemplateSetsNoUsage(t *testing.T) {
	t.Parallel()
	pod := podOf(func(j *batchv1alpha1.Job) {
		j.Spec.Tasks[0].Template.Annotations = map[string]string{keys.Used: `{"cpuMilliseconds":1}`}
	}, false)
	if used, found := pod.Annotations[keys.Used]; found {
		t.Errorf("the new pod has the usage %s", used)
	}
}

func TestAClaimIsMountedOnceIntoEveryContainer(t *testing.T) {
	t.Parallel()
	pod := podOf(func(j *batchv1alpha1.Job) {
		j.Spec.Volumes = []batchv1alpha1.VolumeSpec{{MountPath: "/a", VolumeClaimName: "data"}, {MountPath: "/b", VolumeClaimName: "more"}, {MountPath: "/c", VolumeClaimName: "data"}}
		spec := &j.Spec.Tasks[0].Template.Spec
		spec.InitContainers = []corev1.Container{{Name: "before"}}
		spec.Containers = append(spec.Containers, corev1.Container{Name: "beside"})
	}, false)
	if len(pod.Spec.Volumes) != 2 || pod.Spec.Volumes[0].Name == pod.Spec.Volumes[1].Name || len(pod.Spec.InitContainers[0].VolumeMounts) != 0 {
		t.Errorf("volumes %v, of the init container %v", pod.Spec.Volumes, pod.Spec.InitContainers[0].VolumeMounts)
	}
	for _, container := range pod.Spec.Containers {
		var paths []string
		for i, mount := range container.VolumeMounts {
			paths = append(paths, mount.MountPath)
			if mount.Name != pod.Spec.Volumes[i].Name {
				t.Errorf("%s is a mount of %s", mount.MountPath, mount.Name)
			}
		}
		if diff := cmp.Diff([]string{"/a", "/b"}, paths); diff != "" {
			t.Errorf("%s (-want +got):\n%s", container.Name, diff)
		}
	}
}

func TestAJobOfAQueueThatExtendsToOtherClustersSaysSo(t *testing.T) {
	t.Parallel()
	in := given("")
	in.Queue.Spec.ExtendClusters = []schedulingv1beta1.Cluster{{Name: "far"}}
	p := Compute(in.Input)
	if diff := cmp.Diff([]string{"status Pending v0 r0", "ForwardJob", "CreateGroup"}, digest(&p)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if group := p.Writes[2].(CreateGroup).Group; group.Annotations[keys.JobForwarding] != "true" || in.Job.Annotations != nil {
		t.Errorf("group %v, job %v", group.Annotations, in.Job.Annotations)
	}
	in.asks(keys.JobForwarding, "true").group(schedulingv1beta1.PodGroupInqueue).counted()
	p = Compute(in.Input)
	if diff := cmp.Diff([]string{"create w-0 w-1"}, lazyAside(digest(&p))[1:]); diff != "" {
		t.Errorf("said already (-want +got):\n%s", diff)
	}
}
