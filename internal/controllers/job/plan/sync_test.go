package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
)

func TestAJobIsStartedStepByStep(t *testing.T) {
	t.Parallel()
	svc := func(j *batchv1alpha1.Job) { j.Spec.Plugins = map[string][]string{"svc": {}} }
	tests := map[string]struct {
		in   *story
		want []string
	}{
		"a new job gets a status, objects and a group": {
			given("").with(svc), []string{"status Pending v0 r0", "EnsureObjects", "CreateGroup"}},
		"no pods while the scheduler has not let the group in": {
			given(batchv1alpha1.Pending).group(schedulingv1beta1.PodGroupPending).counted(), nil},
		"pods then": {
			given(batchv1alpha1.Pending).group(schedulingv1beta1.PodGroupInqueue).counted(), []string{"create w-0 w-1"}},
		"only those that are missing": {
			given(batchv1alpha1.Pending).group(schedulingv1beta1.PodGroupInqueue).pod("w", 1, corev1.PodPending).counted(), []string{"create w-0"}},
		"none at a place whose pod still goes away": {
			given(batchv1alpha1.Pending).with(func(j *batchv1alpha1.Job) { j.Status.Version = 1 }).group(schedulingv1beta1.PodGroupInqueue).
				pod("w", 0, corev1.PodRunning, ofVersion(0), goingAway).pod("w", 1, corev1.PodRunning).counted(), nil},
		"a live pod of an older version is stopped": {
			given(batchv1alpha1.Pending).with(func(j *batchv1alpha1.Job) { j.Status.Version = 1 }).group(schedulingv1beta1.PodGroupInqueue).
				pod("w", 0, corev1.PodRunning, ofVersion(0)).pod("w", 1, corev1.PodRunning), []string{"status Pending v1 r0", "delete w-0"}},
		"a finished one is kept": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { j.Status.Version = 1 }).group(schedulingv1beta1.PodGroupInqueue).
				pod("w", 0, corev1.PodSucceeded, ofVersion(0)).pod("w", 1, corev1.PodRunning).counted(), nil},
		"a pod marked before a crash is stopped after it": {
			given(batchv1alpha1.Running).group(schedulingv1beta1.PodGroupInqueue).pod("w", 0, corev1.PodRunning).
				pod("w", 1, corev1.PodRunning, func(p *corev1.Pod) { p.Annotations[keys.OutOfSync] = "true" }),
			[]string{"status Running v0 r0", "delete w-1"}},
		"the group of an older version is replaced": {
			given(batchv1alpha1.Pending).group(schedulingv1beta1.PodGroupRunning).with(func(j *batchv1alpha1.Job) { j.Status.Version = 1 }).counted(),
			[]string{"DeleteGroup"}},
		"scaled up": {
			given(batchv1alpha1.Running).group(schedulingv1beta1.PodGroupRunning).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning).
				with(func(j *batchv1alpha1.Job) {
					two := int32(2)
					j.Spec.Tasks[0].Replicas, j.Spec.Tasks[0].MinAvailable = 3, &two
				}).counted(),
			[]string{"create w-2"}},
		"scaled down, the highest index first": {
			given(batchv1alpha1.Running).group(schedulingv1beta1.PodGroupRunning).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning).
				with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 1 }),
			[]string{"status Running v0 r0", "mark w-1", "delete w-1", "PatchGroup"}},
		"scaled down to what has ended, it keeps what has": {
			given(batchv1alpha1.Running).group(schedulingv1beta1.PodGroupRunning).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodSucceeded).pod("w", 2, corev1.PodRunning).
				with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Replicas = 1 }),
			[]string{"status Completed v0 r0", "mark w-2", "delete w-2"}},
		"nothing to do": {
			given(batchv1alpha1.Running).group(schedulingv1beta1.PodGroupRunning).pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodRunning).counted(), nil},
		"a finished job at rest costs nothing": {
			given(batchv1alpha1.Completed).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodSucceeded).counted(), nil},
		"a finished job stops what still runs and cleans up": {
			given(batchv1alpha1.Completed).with(svc).with(func(j *batchv1alpha1.Job) {
				j.Status.ControlledResources = map[string]string{"plugin-svc": "svc", "volume-pvc-x": "x"}
			}).group(schedulingv1beta1.PodGroupRunning).pod("w", 0, corev1.PodSucceeded).pod("w", 1, corev1.PodRunning),
			[]string{"delete w-1", "RemoveObjects", "DeleteGroup", "status Completed v0 r0"}},
		"a job that is being deleted is left alone": {
			given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) { j.DeletionTimestamp = &metav1.Time{Time: noon} }), nil},
		"a finished job is deleted when its time has come": {
			given(batchv1alpha1.Failed).with(func(j *batchv1alpha1.Job) {
				ttl := int32(10)
				j.Spec.TTLSecondsAfterFinished, j.Status.State.LastTransitionTime = &ttl, metav1.NewTime(noon.Add(-10*time.Second))
			}), []string{"DeleteJob"}},
		"so is an aborted one": {
			given(batchv1alpha1.Aborted).with(func(j *batchv1alpha1.Job) {
				ttl := int32(10)
				j.Spec.TTLSecondsAfterFinished, j.Status.State.LastTransitionTime = &ttl, metav1.NewTime(noon.Add(-time.Hour))
			}).counted(), []string{"DeleteJob"}},
		"one of Slurm's is not: it only pauses": {
			given(batchv1alpha1.Aborted).with(func(j *batchv1alpha1.Job) {
				ttl := int32(10)
				j.Spec.TTLSecondsAfterFinished, j.Status.State.LastTransitionTime = &ttl, metav1.NewTime(noon.Add(-time.Hour))
				j.Annotations = map[string]string{keys.Slurm: "{}"}
			}).counted(), nil},
		"but one of Slurm's that was cancelled": {
			given(batchv1alpha1.Aborted).with(func(j *batchv1alpha1.Job) {
				ttl := int32(10)
				j.Spec.TTLSecondsAfterFinished, j.Status.State.LastTransitionTime = &ttl, metav1.NewTime(noon.Add(-time.Hour))
				j.Annotations = map[string]string{keys.Slurm: "{}", keys.CancelledBy: "mei"}
			}).counted(), []string{"DeleteJob"}},
		"where ended jobs are kept it stays": {
			func() *story {
				ttl := int32(10)
				s := given(batchv1alpha1.Failed).with(func(j *batchv1alpha1.Job) {
					j.Spec.TTLSecondsAfterFinished, j.Status.State.LastTransitionTime = &ttl, metav1.NewTime(noon.Add(-time.Hour))
				}).counted()
				s.KeepEnded = true
				return s
			}(), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			var did []string
			for _, w := range lazyAside(digest(&p)) {
				if w != "EnsureObjects" || test.in.PodGroup == nil {
					did = append(did, w)
				}
			}
			if diff := cmp.Diff(test.want, did); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatKeepsAJobPendingIsSaid(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in              *story
		reason, message string
	}{
		"no queue": {
			func() *story { s := given(""); s.Queue = nil; return s }(), "QueueMissing", "queue default does not exist"},
		"an unknown plugin": {
			given("").with(func(j *batchv1alpha1.Job) { j.Spec.Plugins = map[string][]string{"magic": {}} }), "PluginError", `spec.plugins[magic]: Invalid value: "magic": unable to find job plugin: magic; valid plugins are env, `},
		"a claim that nobody made": {
			given("").with(func(j *batchv1alpha1.Job) {
				j.Spec.Volumes = []batchv1alpha1.VolumeSpec{{MountPath: "/d", VolumeClaimName: "data"}}
			}),
			"PVCError", "pvc data is not found"},
		"a task that waits for another": {
			given(batchv1alpha1.Pending).task("x", 1).with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[1].DependsOn = &batchv1alpha1.DependsOn{Name: []string{"w"}} }).
				group(schedulingv1beta1.PodGroupInqueue), "WaitingForTask", "task x waits until w is ready"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			state := status(test.in, &p).State
			if state.Phase != batchv1alpha1.Pending || state.Reason != test.reason || !strings.HasPrefix(state.Message, test.message) {
				t.Errorf("state %+v", state)
			}
		})
	}
}

func TestReasonOfAPodGroupIsInTheStatusOfItsJob(t *testing.T) {
	t.Parallel()
	condition := func(kind schedulingv1beta1.PodGroupConditionType, status corev1.ConditionStatus, ago time.Duration, why, message string) schedulingv1beta1.PodGroupCondition {
		return schedulingv1beta1.PodGroupCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(noon.Add(-ago)), Reason: why, Message: message}
	}
	const yes, no, waits, runs = corev1.ConditionTrue, corev1.ConditionFalse, schedulingv1beta1.PodGroupUnschedulableType, schedulingv1beta1.PodGroupScheduledType
	type conditions = []schedulingv1beta1.PodGroupCondition
	tests := map[string]struct {
		in   conditions
		want string
	}{
		"nothing is known":              {nil, ""},
		"it does not fit":               {conditions{condition(waits, yes, 0, "NotEnoughResources", "too few cpus")}, "PodGroup ns:j-u unschedulable, reason: too few cpus"},
		"the newest word counts":        {conditions{condition(waits, yes, 0, "NotEnoughResources", "new"), condition(waits, yes, time.Hour, "NotEnoughResources", "old")}, "PodGroup ns:j-u unschedulable, reason: new"},
		"it is scheduled since":         {conditions{condition(waits, yes, time.Hour, "NotEnoughResources", "old"), condition(runs, yes, 0, "", "")}, ""},
		"what is not so does not count": {conditions{condition(waits, no, 0, "NotEnoughResources", "was so")}, ""},
		"pods are missing":              {conditions{condition(waits, yes, 0, schedulingv1beta1.NotEnoughPodsReason, "0 of 2")}, ""},
		"pods of one task are missing":  {conditions{condition(waits, yes, 0, schedulingv1beta1.NotEnoughPodsOfTaskReason, "0 of 2")}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := given(batchv1alpha1.Pending).group(schedulingv1beta1.PodGroupPending).counted()
			in.PodGroup.Status.Conditions = test.in
			p := Compute(in.Input)
			got := ""
			for _, e := range p.Events {
				got += e.Message
				if e.Type != corev1.EventTypeWarning || e.Reason != "PodGroupPending" {
					t.Errorf("%+v", e)
				}
			}
			if got != test.want {
				t.Errorf("told %q, want %q", got, test.want)
			}
		})
	}
}

func TestPodsInAnUnknownPhaseAreCounted(t *testing.T) {
	t.Parallel()
	for _, phase := range []corev1.PodPhase{corev1.PodUnknown, "Odd"} {
		in := given(batchv1alpha1.Running).pod("w", 0, corev1.PodRunning).pod("w", 1, phase)
		p := Compute(in.Input)
		if s := status(in, &p); s.Unknown != 1 || s.TaskStatusCount["w"].Phase[corev1.PodUnknown] != 1 || s.State.Phase != batchv1alpha1.Running {
			t.Errorf("%s: %+v", phase, s)
		}
	}
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	dependent := func(iteration batchv1alpha1.Iteration, on ...string) *story {
		s := given(batchv1alpha1.Pending).task("v", 1).task("x", 1)
		s.Job.Spec.Tasks[2].DependsOn = &batchv1alpha1.DependsOn{Name: on, Iteration: iteration}
		return s.group(schedulingv1beta1.PodGroupInqueue)
	}
	tests := map[string]struct {
		in    *story
		start bool
	}{
		"not before its pods are ready": {dependent("", "w").pod("w", 0, corev1.PodRunning, ready).pod("w", 1, corev1.PodRunning), false},
		"when all are ready":            {dependent("", "w").pod("w", 0, corev1.PodRunning, ready).pod("w", 1, corev1.PodRunning, ready), true},
		"a succeeded pod is ready":      {dependent("", "v").pod("v", 0, corev1.PodSucceeded), true},
		"minAvailable of them are enough": {
			dependent("", "w").with(func(j *batchv1alpha1.Job) { one := int32(1); j.Spec.Tasks[0].MinAvailable = &one }).pod("w", 0, corev1.PodRunning, ready), true},
		"all of several":              {dependent(batchv1alpha1.IterationAll, "w", "v").pod("v", 0, corev1.PodRunning, ready), false},
		"any of several":              {dependent(batchv1alpha1.IterationAny, "w", "v").pod("v", 0, corev1.PodRunning, ready), true},
		"any of one is all of one":    {dependent(batchv1alpha1.IterationAny, "w").pod("w", 0, corev1.PodRunning, ready), false},
		"a task that does not exist":  {dependent("", "nobody"), false},
		"a pod that goes does not do": {dependent("", "v").pod("v", 0, corev1.PodRunning, ready, goingAway), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			got := strings.Contains(strings.Join(digest(&p), "\n"), " x-0")
			if got != test.start {
				t.Errorf("started %v, want %v: %v", got, test.start, digest(&p))
			}
		})
	}
}

func TestAJobsVolumesAreNamedAndMadeOnce(t *testing.T) {
	t.Parallel()
	in := given("").with(func(j *batchv1alpha1.Job) {
		j.Spec.Volumes = []batchv1alpha1.VolumeSpec{{MountPath: "/a", VolumeClaim: &corev1.PersistentVolumeClaimSpec{}}, {MountPath: "/b", VolumeClaimName: "there"}}
	})
	in.Claims = map[string]bool{"there": true}
	made := ClaimName(in.Job, 0)
	p := Compute(in.Input)
	want := []string{"status Pending v0 r0", "NameClaims", "claim " + made, "CreateGroup"}
	if diff := cmp.Diff(want, digest(&p)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if claim := p.Writes[2].(CreateClaim).Claim; claim.Namespace != "ns" || !metav1.IsControlledBy(claim, in.Job) {
		t.Errorf("claim %s/%s of %v", claim.Namespace, claim.Name, claim.OwnerReferences)
	}
	// After a crash between naming and creating, the same claim is created.
	in.Job.Spec.Volumes[0].VolumeClaimName = made
	p = Compute(in.Input)
	if diff := cmp.Diff([]string{"status Pending v0 r0", "claim " + made, "CreateGroup"}, digest(&p)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	pod := NewPodForPlace(in.defaulted(), plugin.Set{}, Place{}, false)
	if n := len(pod.Spec.Volumes); n != 2 || pod.Spec.Containers[0].VolumeMounts[0].MountPath != "/a" {
		t.Errorf("%d volumes, mounts %v", n, pod.Spec.Containers[0].VolumeMounts)
	}
}

func TestAPodSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	job := given(batchv1alpha1.Pending).with(func(j *batchv1alpha1.Job) {
		j.Status.Version, j.Status.RetryCount, j.Status.UserRestarts = 2, 1, 2
		j.Spec.PriorityClassName = "high"
		j.Annotations = map[string]string{keys.Preemptable: "true", keys.JDBMinAvailable: "1", keys.JDBMaxUnavailable: "2"}
		j.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 1, PartitionSize: 2}
		j.Spec.Tasks[0].TopologyPolicy = batchv1alpha1.SingleNumaNode
	}).defaulted()
	pod := NewPodForPlace(job, plugin.Set{}, Place{Task: 0, Index: 1}, false)
	wantLabels := map[string]string{keys.TaskIndex: "1", keys.JobName: "j", keys.TaskSpec: "w", keys.JobNamespace: "ns", keys.QueueName: "default", keys.PartitionID: "0"}
	wantAnnotations := map[string]string{keys.TaskIndex: "1", keys.TaskSpec: "w", keys.GroupName: "j-u", keys.JobName: "j", keys.QueueName: "default",
		keys.JobVersion: "2", keys.TemplateUID: "j-w", keys.JobRetryCount: "1", keys.Restarts: "3", keys.NumaPolicy: "single-numa-node", keys.Preemptable: "true", keys.JDBMinAvailable: "1"}
	if diff := cmp.Diff(wantLabels, pod.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(wantAnnotations, pod.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if pod.Name != "j-w-1" || pod.Spec.SchedulerName != "volcano" || pod.Spec.PriorityClassName != "high" || !metav1.IsControlledBy(pod, job) {
		t.Errorf("pod %s of %s, priority %s, owners %v", pod.Name, pod.Spec.SchedulerName, pod.Spec.PriorityClassName, pod.OwnerReferences)
	}
}

func TestAGroupAsksForTheSmallestSetThatMayStart(t *testing.T) {
	t.Parallel()
	cpu := func(j *batchv1alpha1.Job, task int, quantity, class string) {
		spec := &j.Spec.Tasks[task].Template.Spec
		spec.PriorityClassName = class
		spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(quantity)}
	}
	base := func(minAvailable int32, minimums ...int32) *batchv1alpha1.Job {
		return given("").task("x", 3).with(func(j *batchv1alpha1.Job) {
			cpu(j, 0, "1", "low")
			cpu(j, 1, "10", "high")
			j.Spec.MinAvailable = minAvailable
			for i := range minimums {
				j.Spec.Tasks[i].MinAvailable = &minimums[i]
			}
		}).defaulted()
	}
	priorities := map[string]int32{"low": 1, "high": 2}
	unknown := base(2)
	unknown.Spec.Tasks[1].Template.Spec.PriorityClassName = "nobody" // a missing class counts as 0
	equal := base(2)
	equal.Spec.Tasks[1].Template.Spec.PriorityClassName = "low"
	tests := map[string]struct {
		job  *batchv1alpha1.Job
		want string
	}{
		"all of it":                              {base(5), "32"},
		"an unknown priority is the lowest":      {unknown, "2"},
		"of equal tasks the first":               {equal, "2"},
		"the tasks of high priority first":       {base(2), "20"},
		"the minimums first, then what is left":  {base(3, 1, 1), "21"},
		"no more than minAvailable":              {base(1, 1, 0), "1"},
		"fewer than the minimums: only priority": {base(1, 1, 1), "10"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := minResources(test.job, priorities)
			if q := got[corev1.ResourceCPU]; q.String() != test.want {
				t.Errorf("cpu %s, want %s", q.String(), test.want)
			}
		})
	}
}

func TestTheGroupFollowsTheJob(t *testing.T) {
	t.Parallel()
	in := running()
	if _, changed := refreshGroupSpec(in.PodGroup, in.defaulted(), nil, always); changed {
		t.Fatal("a new group is out of date")
	}
	job := in.with(func(j *batchv1alpha1.Job) {
		one := int32(1)
		j.Spec.Tasks[0].MinAvailable, j.Spec.MinAvailable = &one, 1
	}).defaulted()
	spec, changed := refreshGroupSpec(in.PodGroup, job, nil, always)
	if !changed || spec.MinMember != 1 || spec.MinTaskMember["w"] != 1 {
		t.Errorf("changed %v, spec %+v", changed, spec)
	}
}

func TestCountersOfAFinishedJobStayTrue(t *testing.T) {
	t.Parallel()
	in := given(batchv1alpha1.Completing).with(func(j *batchv1alpha1.Job) { j.Status.Version = 1 }).
		pod("w", 0, corev1.PodSucceeded, ofVersion(0)).pod("w", 1, corev1.PodFailed, ofVersion(0))
	p := Compute(in.Input)
	s := status(in, &p)
	if s.State.Phase != batchv1alpha1.Completed || s.Succeeded != 1 || s.Failed != 1 || s.TaskStatusCount["w"].Phase[corev1.PodSucceeded] != 1 {
		t.Errorf("status %+v", s)
	}
}

func TestAGangCountsOnlyTasksThatMayStart(t *testing.T) {
	t.Parallel()
	in := given(batchv1alpha1.Pending).task("x", 3).with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[1].DependsOn = &batchv1alpha1.DependsOn{Name: []string{"w"}} })
	group := func() *schedulingv1beta1.PodGroup {
		p := Compute(in.Input)
		for _, w := range p.Writes {
			switch w := w.(type) {
			case CreateGroup:
				return w.Group
			case PatchGroup:
				group := w.Group.DeepCopy()
				group.Spec = w.Spec
				return group
			}
		}
		t.Fatalf("no group: %v", digest(&p))
		return nil
	}
	in.PodGroup = group()
	if diff := cmp.Diff(map[string]int32{"w": 2}, in.PodGroup.Spec.MinTaskMember); diff != "" || in.PodGroup.Spec.MinMember != 2 {
		t.Errorf("minMember %d at first, of tasks (-want +got):\n%s", in.PodGroup.Spec.MinMember, diff)
	}
	in.PodGroup.Status.Phase = schedulingv1beta1.PodGroupRunning
	in.pod("w", 0, corev1.PodRunning, ready).pod("w", 1, corev1.PodRunning, ready)
	if diff := cmp.Diff(map[string]int32{"w": 2, "x": 3}, group().Spec.MinTaskMember); diff != "" || group().Spec.MinMember != 5 {
		t.Errorf("minMember %d then, of tasks (-want +got):\n%s", group().Spec.MinMember, diff)
	}
}
