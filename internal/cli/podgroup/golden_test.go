package podgroup_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// groups adds a PodGroup with sub-groups and two plain pods, and a PodGroup of a single pod.
func groups(s *clitest.Server) {
	tier, size, least := 2, int32(4), int32(2)
	needs := golden.NewResources("cpu", "8", "memory", "16Gi")
	spread := newGroup("spread", "research", schedulingv1beta1.PodGroupInqueue, 10*time.Minute)
	spread.Labels = map[string]string{"team": "nlp"}
	spread.Spec = schedulingv1beta1.PodGroupSpec{MinMember: 8, Queue: "research", PriorityClassName: "high", MinResources: &needs,
		MinTaskMember:   map[string]int32{"ps": 2, "main": 6},
		NetworkTopology: &schedulingv1beta1.NetworkTopologySpec{Mode: "hard", HighestTierAllowed: &tier},
		SubGroupPolicy:  []schedulingv1beta1.SubGroupPolicySpec{{Name: "ring", SubGroupSize: &size, MinSubGroups: &least, NetworkTopology: &schedulingv1beta1.NetworkTopologySpec{Mode: "soft", HighestTierName: "rack"}}}}
	spread.Status.Conditions = []schedulingv1beta1.PodGroupCondition{{Type: "Unschedulable", Status: "True", Reason: "NotEnoughResources", Message: "8/8 tasks in gang unschedulable", LastTransitionTime: golden.TimeAgo(9 * time.Minute)}}
	one := newGroup("podgroup-uid-lone", "default", schedulingv1beta1.PodGroupRunning, time.Hour)
	one.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "lone", UID: "uid-lone"}}
	one.Status.Running = 1
	s.SetObjects(spread, one, member("a", "spread"), member("b", "spread"), member("c", "other"), member("lone", "podgroup-uid-lone"))
}

func newGroup(name, queue string, phase schedulingv1beta1.PodGroupPhase, age time.Duration) *schedulingv1beta1.PodGroup {
	return &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "nlp", CreationTimestamp: golden.TimeAgo(age)},
		Spec: schedulingv1beta1.PodGroupSpec{MinMember: 1, Queue: queue}, Status: schedulingv1beta1.PodGroupStatus{Phase: phase}}
}

func member(name, group string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "nlp", UID: "uid-" + "lone", CreationTimestamp: golden.TimeAgo(time.Hour), Annotations: map[string]string{keys.GroupName: group}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}, Status: corev1.PodStatus{Phase: corev1.PodPending}}
}

func TestPodGroupGoldens(t *testing.T) {
	runs := golden.RunsForCommands(
		golden.Command{Args: "podgroup list", Wrong: "podgroup list --phase Waiting", Prepare: groups},
		golden.Command{Args: "podgroup get spread", Wrong: "podgroup get sprad", Prepare: groups},
		golden.Command{Args: "podgroup view spread", Wrong: "podgroup view", Prepare: groups},
		golden.Command{Args: "podgroup create -f testdata/group.yaml", Wrong: "podgroup create -f testdata/bad.yaml", Prepare: groups},
		golden.Command{Args: "podgroup delete spread", Wrong: "podgroup delete spraed", Prepare: groups},
	)
	more := func(about, args string) { runs = append(runs, golden.Run{About: about, Args: args, Prepare: groups}) }
	more("all columns, all namespaces", "pg list -A -o wide")
	more("in queues and phases", "podgroup list -q research,default --phase pending,inqueue")
	more("of a job, explained", "podgroup view eval-uid-eval-1080")
	more("of a job, not explained by the scheduler", "podgroup view plain-uid-plain-30 --events=false")
	more("of a single pod", "podgroup view podgroup-uid-lone")
	golden.CompareRuns(t, "podgroup", runs)
}

// The job's name, which users know, shows the PodGroup of a job, but does not delete it.
func TestThePodGroupOfAJobIsShownByTheJobsName(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	for _, args := range []string{"podgroup view train", "podgroup view job/train", "podgroup list train", "podgroup get job/train", "podgroup get train -o name"} {
		if got := (golden.Run{Args: args}).RunAgainst(t, server); got.Code != 0 || !strings.Contains(got.Out, "train-uid-train-7200") {
			t.Errorf("%s: exit %d: %s%s", args, got.Code, got.Out, got.Err)
		}
	}
	if got := (golden.Run{Args: "events podgroup/train"}).RunAgainst(t, server); got.Code != 0 {
		t.Errorf("events podgroup/train: exit %d: %s%s", got.Code, got.Out, got.Err)
	}
	if got := (golden.Run{Args: "__complete podgroup view tra"}).RunAgainst(t, server); !strings.HasPrefix(got.Out, "train\n") {
		t.Errorf("completion of podgroup view offers %q", got.Out)
	}
	if got := (golden.Run{Args: "podgroup delete train"}).RunAgainst(t, server); got.Code != cli.ExitError {
		t.Errorf("podgroup delete train: exit %d: %s%s", got.Code, got.Out, got.Err)
	}
}
