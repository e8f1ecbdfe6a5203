package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// TestWhatSurvivesWhat carries out an operation completely, plan by plan, on a job with a plugin and a claim, of which
// one pod runs, one has succeeded and one has failed. It lists the deleted objects.
func TestWhatSurvivesWhat(t *testing.T) {
	t.Parallel()
	const everyPod = "j-w-0 j-w-1 j-w-2"
	tests := map[string]struct {
		do         func(*story)
		pods       string // the deleted pods
		group      bool   // whether the PodGroup is deleted
		objects    bool   // whether the plugins' objects are deleted
		ends       batchv1alpha1.JobPhase
		retries    int32
		userStarts int32
	}{
		"RestartJob":                    {policed(busv1alpha1.RestartJobAction), everyPod, true, false, batchv1alpha1.Pending, 1, 0},
		"RestartJob, by hand":           {commanded(busv1alpha1.RestartJobAction), everyPod, true, false, batchv1alpha1.Pending, 0, 1},
		"RestartJob, for the last time": {lastTry(policed(busv1alpha1.RestartJobAction)), "j-w-0", true, true, batchv1alpha1.Failed, 3, 0},
		"RestartTask":                   {policed(busv1alpha1.RestartTaskAction), everyPod, false, false, batchv1alpha1.Pending, 1, 0},
		"RestartPod":                    {policed(busv1alpha1.RestartPodAction), "j-w-2", false, false, batchv1alpha1.Running, 1, 0},
		"RestartPartition":              {policed(busv1alpha1.RestartPartitionAction), "j-w-2", false, false, batchv1alpha1.Running, 1, 0},
		"RestartPod, for the last time": {lastTry(policed(busv1alpha1.RestartPodAction)), "j-w-2 j-w-0", true, true, batchv1alpha1.Failed, 3, 0},
		"AbortJob":                      {commanded(busv1alpha1.AbortJobAction), "j-w-0", true, true, batchv1alpha1.Aborted, 0, 0},
		"AbortJob and ResumeJob":        {commanded(busv1alpha1.AbortJobAction, busv1alpha1.ResumeJobAction), "j-w-0", true, false, batchv1alpha1.Running, 0, 1},
		"CompleteJob":                   {commanded(busv1alpha1.CompleteJobAction), "j-w-0", true, true, batchv1alpha1.Completed, 0, 0},
		"TerminateJob":                  {commanded(busv1alpha1.TerminateJobAction), "j-w-0", true, true, batchv1alpha1.Terminated, 0, 0},
		"minSuccess pods succeeded": {func(s *story) { s.with(func(j *batchv1alpha1.Job) { one := int32(1); j.Spec.MinSuccess = &one }) },
			"j-w-0", true, true, batchv1alpha1.Completed, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := inLife()
			test.do(s)
			l := newLife(t, s)
			for range 12 {
				l.step()
			}
			got := strings.Join(l.pods, " ")
			if got != test.pods || l.group != test.group || l.removed != test.objects {
				t.Errorf("deleted %s, group %v, objects %v; want %s, %v, %v", got, l.group, l.removed, test.pods, test.group, test.objects)
			}
			status := &s.Job.Status
			if status.State.Phase != test.ends || status.RetryCount != test.retries || status.UserRestarts != test.userStarts {
				t.Errorf("%s with %d retries, %d by hand; want %s with %d, %d", status.State.Phase, status.RetryCount, status.UserRestarts, test.ends, test.retries, test.userStarts)
			}
			if status.ControlledResources["volume-pvc-data"] != "data" || l.claims {
				t.Error("the claim is to be kept, whatever happens")
			}
			if len(s.Commands) > 0 {
				t.Errorf("command %s is left", s.Commands[0].Action)
			}
		})
	}
}

// inLife returns a running job of three pods with a plugin and a claim.
func inLife() *story {
	return given(batchv1alpha1.Running).with(func(j *batchv1alpha1.Job) {
		j.Spec.Tasks[0].Replicas = 3
		j.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 3, PartitionSize: 1}
		j.Spec.Plugins = map[string][]string{"svc": {}}
		j.Spec.Volumes = []batchv1alpha1.VolumeSpec{{MountPath: "/data", VolumeClaimName: "data"}}
		j.Status.ControlledResources = map[string]string{"plugin-svc": "svc", "volume-pvc-data": "data"}
		one := int32(1)
		j.Spec.MinAvailable, j.Spec.Tasks[0].MinAvailable = 1, &one
	}).group("Running").pod("w", 0, corev1.PodRunning).pod("w", 1, corev1.PodSucceeded, ended(0, time.Minute)).
		pod("w", 2, corev1.PodFailed, ended(1, time.Minute)).counted()
}

func policed(action busv1alpha1.Action) func(*story) {
	return func(s *story) { s.policy(busv1alpha1.PodFailedEvent, action) }
}

func commanded(actions ...busv1alpha1.Action) func(*story) {
	return func(s *story) {
		for _, action := range actions {
			s.command(action)
		}
	}
}

func lastTry(do func(*story)) func(*story) {
	return func(s *story) {
		do(s)
		s.Job.Status.RetryCount = 2
	}
}

// life carries out plans on plain data, like an API server and nodes, but creates no pods. Deleted pods are gone in the
// next plan.
type life struct {
	*story
	t                      *testing.T
	pods                   []string // the deleted pods
	group, removed, claims bool
}

func newLife(t *testing.T, s *story) *life { return &life{story: s, t: t} }

func (l *life) step() {
	l.Now = l.Now.Add(time.Second)
	l.Fresh = true
	p := Compute(l.Input)
	for _, w := range p.Writes {
		switch w := w.(type) {
		case WriteStatus:
			l.Job.Status = w.Status
		case DeletePods:
			for _, pod := range w.Pods {
				l.pods = append(l.pods, pod.Name)
				for i := range l.Pods {
					if l.Pods[i].UID == pod.UID {
						l.Pods = append(l.Pods[:i:i], l.Pods[i+1:]...)
						break
					}
				}
			}
		case DeleteGroup:
			l.group, l.PodGroup = true, nil
		case CreateGroup:
			l.PodGroup = w.Group.DeepCopy()
		case RemoveObjects:
			l.removed = true
		case EnsureObjects:
			l.removed = false // created again, or never removed
		case CreateClaim, NameClaims:
			l.claims = true
		case DeleteCommand:
			l.Commands = l.Commands[1:]
		case MarkPods, PatchGroup, CreatePods:
		default:
			l.t.Fatalf("%T: %v", w, digest(&p))
		}
	}
	l.Claims = map[string]bool{"data": true}
	l.Job.ResourceVersion += "x"
}

// TestStoppingPods covers the rules for stopping pods.
func TestStoppingPods(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   *story
		want []string
	}{
		"nothing of a job that is being deleted": {running().with(func(j *batchv1alpha1.Job) { j.DeletionTimestamp = &metav1.Time{Time: noon} }).command(busv1alpha1.AbortJobAction), nil},
		"the status is written before a pod is stopped": {running().command(busv1alpha1.TerminateJobAction),
			[]string{"status Terminating v1 r0", "delete w-0 w-1", "done c0"}},
		"pods that go already are only waited for": {replacePod(running(), 1, corev1.PodRunning, goingAway).counted().command(busv1alpha1.AbortJobAction),
			[]string{"status Aborting v1 r0", "delete w-0", "done c0"}},
		"a part is marked, so that its end is no event": {replacePod(running(), 1, corev1.PodFailed).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartTaskAction),
			[]string{"status Restarting v0 r1", "mark w-0 w-1", "delete w-0 w-1"}},
		"a part keeps its group and its version": {replacePod(running(), 1, corev1.PodFailed).policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartPodAction),
			[]string{"status Restarting v0 r1", "mark w-1", "delete w-1"}},
		"a partition that the job does not have": {replacePod(running(), 1, corev1.PodFailed).counted().policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartPartitionAction), nil},
		"finished pods of a part go, too": {replacePod(running(), 1, corev1.PodFailed).with(func(j *batchv1alpha1.Job) { j.Spec.Tasks[0].Policies = nil }).
			policy(busv1alpha1.PodFailedEvent, busv1alpha1.RestartPodAction), []string{"status Restarting v0 r1", "mark w-1", "delete w-1"}},
		"a version once written does not grow by itself": {given(batchv1alpha1.Terminated).with(func(j *batchv1alpha1.Job) { j.Status.Version = 4 }).
			pod("w", 0, corev1.PodSucceeded, ofVersion(3)).pod("w", 1, corev1.PodFailed, ofVersion(3)).counted(), nil},
		"pods of a task that the job does not have are let be": {running().pod("x", 0, corev1.PodRunning), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := Compute(test.in.Input)
			var did []string
			for _, w := range lazyAside(digest(&p)) {
				if !strings.HasPrefix(w, "create") {
					did = append(did, w)
				}
			}
			if diff := cmp.Diff(test.want, did); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatAGroupSaysOfItsJob covers the fields of the PodGroup.
func TestWhatAGroupSaysOfItsJob(t *testing.T) {
	t.Parallel()
	two, tier := int32(2), 2
	job := given("").task("x", 6).with(func(j *batchv1alpha1.Job) {
		j.Labels, j.Annotations = map[string]string{"l": "1"}, map[string]string{"a": "1", corev1.LastAppliedConfigAnnotation: "{}"}
		j.Spec.Queue, j.Spec.PriorityClassName, j.Status.Version = "q", "high", 3
		j.Spec.NetworkTopology = &batchv1alpha1.NetworkTopologySpec{HighestTierAllowed: &tier}
		j.Spec.Tasks[0].Replicas, j.Spec.Tasks[0].MinAvailable = 3, &two
		j.Spec.Tasks[1].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 3, PartitionSize: 2, MinPartitions: 2,
			NetworkTopology: &batchv1alpha1.NetworkTopologySpec{Mode: batchv1alpha1.SoftNetworkTopologyMode, HighestTierName: "rack"}}
	}).defaulted()
	got := newGroup(job, nil, always)
	got.Spec.MinResources = nil // has its own table
	size, least := int32(2), int32(2)
	want := schedulingv1beta1.PodGroupSpec{
		MinMember: 6, MinTaskMember: map[string]int32{"w": 2, "x": 4}, Queue: "q", PriorityClassName: "high",
		NetworkTopology: &schedulingv1beta1.NetworkTopologySpec{Mode: schedulingv1beta1.HardNetworkTopologyMode, HighestTierAllowed: &tier},
		SubGroupPolicy: []schedulingv1beta1.SubGroupPolicySpec{{Name: "x", SubGroupSize: &size, MinSubGroups: &least,
			NetworkTopology: &schedulingv1beta1.NetworkTopologySpec{Mode: schedulingv1beta1.SoftNetworkTopologyMode, HighestTierName: "rack"},
			LabelSelector:   &metav1.LabelSelector{MatchLabels: map[string]string{keys.TaskSpec: "x"}}, MatchLabelKeys: []string{keys.PartitionID}}},
	}
	if diff := cmp.Diff(want, got.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if _, ok := got.Annotations[keys.TaskRequests]; !ok {
		t.Error("the PodGroup does not say what pods of its tasks request")
	}
	if placements := got.Annotations[keys.TaskPlacements]; placements != "{}" {
		t.Errorf("the PodGroup says of places %q, want that pods may run anywhere", placements)
	}
	delete(got.Annotations, keys.TaskRequests)
	delete(got.Annotations, keys.TaskPlacements)
	if diff := cmp.Diff(map[string]string{"a": "1", keys.JobVersion: "3"}, got.Annotations); diff != "" || got.Labels["l"] != "1" {
		t.Errorf("labels %v, annotations (-want +got):\n%s", got.Labels, diff)
	}
	if got.Name != "j-u" || !metav1.IsControlledBy(got, job) || got.Status.Phase != schedulingv1beta1.PodGroupPending {
		t.Errorf("group %s of %v is %s", got.Name, got.OwnerReferences, got.Status.Phase)
	}
}

// TestAGroupSaysWhereThePodsOfItsTasksMayRun verifies that the placement rules of pods are in the PodGroup before the
// pods exist.
func TestAGroupSaysWhereThePodsOfItsTasksMayRun(t *testing.T) {
	t.Parallel()
	near := &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "pool", Operator: corev1.NodeSelectorOpExists}}}}}},
		PodAntiAffinity: &corev1.PodAntiAffinity{},
	}
	tests := map[string]struct {
		change func(*corev1.PodSpec)
		want   string
	}{
		"anywhere":           {func(*corev1.PodSpec) {}, `{}`},
		"a node selector":    {func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"pool": "x"} }, `{"w":{"nodeSelector":{"pool":"x"}}}`},
		"a toleration":       {func(s *corev1.PodSpec) { s.Tolerations = []corev1.Toleration{{Key: "team"}} }, `{"w":{"tolerations":[{"key":"team"}]}}`},
		"affinity to nodes":  {func(s *corev1.PodSpec) { s.Affinity = near }, `{"w":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"pool","operator":"Exists"}]}]}}}}}`},
		"more than it holds": {func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"pool": strings.Repeat("x", 40<<10)} }, ``},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := given("").task("x", 6).with(func(j *batchv1alpha1.Job) { test.change(&j.Spec.Tasks[0].Template.Spec) }).defaulted()
			if diff := cmp.Diff(test.want, newGroup(job, nil, always).Annotations[keys.TaskPlacements]); diff != "" {
				t.Errorf("annotation (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatOfAGroupFollowsItsJob covers which fields of an existing PodGroup are updated, and which belong to other
// components.
func TestWhatOfAGroupFollowsItsJob(t *testing.T) {
	t.Parallel()
	one := int32(1)
	tests := map[string]struct {
		change func(*batchv1alpha1.Job, *schedulingv1beta1.PodGroup)
		want   string // the changed fields; "" for no write
	}{
		"nothing changed":                 {func(*batchv1alpha1.Job, *schedulingv1beta1.PodGroup) {}, ""},
		"priorityClassName":               {func(j *batchv1alpha1.Job, _ *schedulingv1beta1.PodGroup) { j.Spec.PriorityClassName = "low" }, "PriorityClassName"},
		"minAvailable":                    {func(j *batchv1alpha1.Job, _ *schedulingv1beta1.PodGroup) { j.Spec.MinAvailable = 1 }, "MinMember MinResources"},
		"a task's minAvailable":           {func(j *batchv1alpha1.Job, _ *schedulingv1beta1.PodGroup) { j.Spec.Tasks[0].MinAvailable = &one }, "MinMember MinTaskMember MinResources"},
		"the job's labels":                {func(j *batchv1alpha1.Job, _ *schedulingv1beta1.PodGroup) { j.Labels = map[string]string{"l": "2"} }, ""},
		"a minimum that somebody lost":    {func(_ *batchv1alpha1.Job, g *schedulingv1beta1.PodGroup) { g.Spec.MinTaskMember = nil }, "MinTaskMember"},
		"a minimum that is not the job's": {func(_ *batchv1alpha1.Job, g *schedulingv1beta1.PodGroup) { g.Spec.MinTaskMember["theirs"] = 7 }, ""},
		"the queue, moved by somebody":    {func(_ *batchv1alpha1.Job, g *schedulingv1beta1.PodGroup) { g.Spec.Queue = "other" }, ""},
		"partitions": {func(j *batchv1alpha1.Job, _ *schedulingv1beta1.PodGroup) {
			j.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 2, PartitionSize: 1}
		}, "SubGroupPolicy"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := running()
			test.change(s.Job, s.PodGroup)
			spec, changed := refreshGroupSpec(s.PodGroup, s.defaulted(), nil, always)
			got := differing(s.PodGroup.Spec, spec)
			if got != test.want || changed != (test.want != "") {
				t.Errorf("%q differ, changed %v; want %q", got, changed, test.want)
			}
		})
	}
}

func differing(was, is schedulingv1beta1.PodGroupSpec) string {
	var fields []string
	for _, f := range []struct {
		name    string
		was, is any
	}{
		{"MinMember", was.MinMember, is.MinMember}, {"MinTaskMember", was.MinTaskMember, is.MinTaskMember}, {"Queue", was.Queue, is.Queue},
		{"PriorityClassName", was.PriorityClassName, is.PriorityClassName}, {"MinResources", was.MinResources, is.MinResources},
		{"NetworkTopology", was.NetworkTopology, is.NetworkTopology}, {"SubGroupPolicy", was.SubGroupPolicy, is.SubGroupPolicy},
	} {
		if !cmp.Equal(f.was, f.is) {
			fields = append(fields, f.name)
		}
	}
	return strings.Join(fields, " ")
}
