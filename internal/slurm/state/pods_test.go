package state

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

func pod(task, node string, phase corev1.PodPhase, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{keys.TaskSpec: task}}, Spec: corev1.PodSpec{NodeName: node}, Status: corev1.PodStatus{Phase: phase}}
	for _, c := range change {
		c(p)
	}
	return p
}

func exited(code int32, why string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: why,
			StartedAt: metav1.NewTime(noon), FinishedAt: metav1.NewTime(noon.Add(time.Minute))}}}}
	}
}

func reported(r launchconfig.Report) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Terminated.Message = r.EncodeText() }
}

func said(why string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Reason = why } }

func TestHowAPodEndedIsHowItsJobEnded(t *testing.T) {
	t.Parallel()
	target := func(why string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: why}}
		}
	}
	for name, c := range map[string]struct {
		pod  *corev1.Pod
		end  Code
		exit string
	}{
		"an exit code":                {pod("head", "n1", corev1.PodFailed, exited(3, "Error")), Failed, "3:0"},
		"a signal":                    {pod("head", "n1", corev1.PodFailed, exited(137, "Error")), Failed, "0:9"},
		"a code like a signal's":      {pod("head", "n1", corev1.PodFailed, exited(130, "Error"), reported(launchconfig.Report{Code: 130})), Failed, "130:0"},
		"a signal, as reported":       {pod("head", "n1", corev1.PodFailed, exited(139, "Error"), reported(launchconfig.Report{Signal: 11})), Failed, "0:11"},
		"a code of the launcher's":    {pod("head", "n1", corev1.PodFailed, exited(1, "Error"), reported(launchconfig.Report{Code: 234})), Failed, "234:0"},
		"a code that is no signal":    {pod("head", "n1", corev1.PodFailed, exited(255, "Error")), Failed, "255:0"},
		"a signal that is told":       {pod("head", "n1", corev1.PodFailed, exited(1, "Error"), func(p *corev1.Pod) { p.Status.ContainerStatuses[0].State.Terminated.Signal = 10 }), Failed, "0:10"},
		"too much memory":             {pod("head", "n1", corev1.PodFailed, exited(137, "OOMKilled")), OutOfMemory, "0:125"},
		"a time limit":                {pod("head", "n1", corev1.PodFailed, said("DeadlineExceeded")), Timeout, "0:0"},
		"a lost node":                 {pod("head", "n1", corev1.PodFailed, said("NodeLost")), NodeFail, "1:0"},
		"a taint":                     {pod("head", "n1", corev1.PodFailed, target("DeletionByTaintManager")), NodeFail, "1:0"},
		"preemption":                  {pod("head", "n1", corev1.PodFailed, target("PreemptionByScheduler")), Preempted, "1:0"},
		"a command that is not there": {pod("head", "n1", corev1.PodFailed, exited(128, "StartError")), BootFail, "128:0"},
		"its own scancel":             {pod("head", "n1", corev1.PodFailed, exited(235, "Error"), func(p *corev1.Pod) { p.Labels[keys.JobID] = "42" }), Cancelled, "235:0"},
		"a good end":                  {pod("head", "n1", corev1.PodSucceeded, exited(0, "Completed")), "", "0:0"},
	} {
		s := SummarizePods([]*corev1.Pod{c.pod})
		if s.End != c.end || s.Exit.String() != c.exit {
			t.Errorf("%s: got %s and %s, want %s and %s", name, s.End, s.Exit, c.end, c.exit)
		}
	}
}

func TestPodsAreSummedUp(t *testing.T) {
	t.Parallel()
	got := SummarizePods([]*corev1.Pod{
		pod("node", "n2", corev1.PodRunning), pod("node", "n1", corev1.PodPending), pod("node", "", corev1.PodPending),
		pod("node", "n2", corev1.PodFailed, exited(9, "Error")), pod("head", "n1", corev1.PodFailed, exited(4, "Error")),
	})
	want := &Pods{Nodes: []string{"n1", "n2"}, Live: 3, Bound: 2, Started: 1, Ended: 2, End: Failed, Exit: Exit{Code: 4}, Highest: Exit{Code: 9},
		Begin: noon, Finish: noon.Add(time.Minute)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestImagesThatCannotBePulledAreSeen(t *testing.T) {
	t.Parallel()
	p := pod("head", "n1", corev1.PodPending, func(p *corev1.Pod) {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}}}
	})
	if !SummarizePods([]*corev1.Pod{p}).CannotStart {
		t.Error("not seen")
	}
}

func TestACodeOverThatOfEverySignalThatEndsProgramsIsAScriptsOwn(t *testing.T) {
	t.Parallel()
	for code, want := range map[int32]string{
		1: "1:0", 128: "128:0", 129: "0:1", 137: "0:9", 139: "0:11", 143: "0:15", 152: "0:24", 159: "0:31", 162: "0:34", 192: "0:64",
		145: "145:0", 146: "146:0", 147: "147:0", 148: "148:0", 150: "150:0", 151: "151:0", 156: "156:0", 160: "160:0", 161: "161:0",
		193: "193:0", 200: "200:0", 255: "255:0",
	} {
		if got := NewExit(code).String(); got != want {
			t.Errorf("%d is %s, want %s", code, got, want)
		}
	}
}
