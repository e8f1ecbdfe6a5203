package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

var policy = BackOff{Base: time.Second, Max: 4 * time.Second}

func makePod(restart corev1.RestartPolicy, init, sidecars, mains int) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n"}, Spec: corev1.PodSpec{RestartPolicy: restart, TerminationGracePeriodSeconds: ptr.To[int64](10)}}
	for i := range sidecars {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: fmt.Sprintf("s%d", i), RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways)})
	}
	for i := range init {
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, corev1.Container{Name: fmt.Sprintf("i%d", i)})
	}
	for i := range mains {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: fmt.Sprintf("m%d", i)})
	}
	return pod
}

// world simulates the runtime: starts succeed at once, and stops and exits happen when the story contains them.
type world struct {
	pod *Pod
	now time.Time
	log []string
}

func newWorld(pod *corev1.Pod) *world {
	w := &world{pod: New(pod, epoch), now: epoch}
	w.pod.Prepared = true
	return w
}

// settle carries out actions until there are none left. It returns the time of the next call.
func (w *world) settle() time.Time {
	for {
		actions, wake := w.pod.Next(w.now, policy)
		if len(actions) == 0 {
			return wake
		}
		for _, action := range actions {
			name := action.Container.Spec.Name
			switch action.Verb {
			case Start:
				w.log = append(w.log, "start "+name)
				action.Container.RecordAttemptStart(fmt.Sprintf("process://%s/%d", name, action.Container.Attempt), w.now)
			case StopGently:
				w.log = append(w.log, "stop "+name)
			case Kill:
				w.log = append(w.log, "kill "+name)
				w.exit(name, 137)
			}
		}
	}
}

func (w *world) exit(name string, code int) {
	c := w.pod.Containers[slices.IndexFunc(w.pod.Containers, func(c *Container) bool { return c.Spec.Name == name })]
	reason := ReasonError
	if code == 0 {
		reason = ReasonCompleted
	}
	c.RecordAttemptEnd(End{Code: code, Reason: reason, StartedAt: c.StartedAt, FinishedAt: w.now})
}

// story runs commands: "exit NAME CODE", "wait SECONDS", "delete GRACE".
func (w *world) story(t *testing.T, commands ...string) {
	t.Helper()
	w.settle()
	for _, command := range commands {
		var name string
		var number int
		switch {
		case strings.HasPrefix(command, "exit"):
			if _, err := fmt.Sscanf(command, "exit %s %d", &name, &number); err != nil {
				t.Fatal(err)
			}
			w.exit(name, number)
		case strings.HasPrefix(command, "wait"):
			if _, err := fmt.Sscanf(command, "wait %d", &number); err != nil {
				t.Fatal(err)
			}
			w.now = w.now.Add(time.Duration(number) * time.Second)
		case strings.HasPrefix(command, "delete"):
			if _, err := fmt.Sscanf(command, "delete %d", &number); err != nil {
				t.Fatal(err)
			}
			w.pod.StopAll(Stop{By: w.now.Add(time.Duration(number) * time.Second)})
		}
		w.settle()
	}
}

func TestStories(t *testing.T) {
	never, always, onFailure := corev1.RestartPolicyNever, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure
	withDeadline := makePod(never, 0, 0, 1)
	withDeadline.Spec.ActiveDeadlineSeconds = ptr.To[int64](5)
	cases := map[string]struct {
		pod    *corev1.Pod
		story  []string
		log    string
		phase  corev1.PodPhase
		reason string
	}{
		"a container that succeeds":             {makePod(never, 0, 0, 1), []string{"exit m0 0"}, "start m0", corev1.PodSucceeded, ""},
		"a container that fails":                {makePod(never, 0, 0, 1), []string{"exit m0 3"}, "start m0", corev1.PodFailed, ""},
		"one of two fails, the other runs":      {makePod(never, 0, 0, 2), []string{"exit m0 3"}, "start m0, start m1", corev1.PodRunning, ""},
		"on failure it starts again":            {makePod(onFailure, 0, 0, 1), []string{"exit m0 3", "exit m0 0"}, "start m0, start m0", corev1.PodSucceeded, ""},
		"the second restart waits":              {makePod(onFailure, 0, 0, 1), []string{"exit m0 3", "exit m0 3"}, "start m0, start m0", corev1.PodRunning, ""},
		"and comes after the back-off":          {makePod(onFailure, 0, 0, 1), []string{"exit m0 3", "exit m0 3", "wait 1"}, "start m0, start m0, start m0", corev1.PodRunning, ""},
		"init containers come one by one":       {makePod(never, 2, 0, 1), []string{"exit i0 0", "exit i1 0"}, "start i0, start i1, start m0", corev1.PodRunning, ""},
		"an init container is not through":      {makePod(never, 2, 0, 1), []string{"exit i0 0"}, "start i0, start i1", corev1.PodPending, ""},
		"an init container fails for good":      {makePod(never, 2, 0, 1), []string{"exit i0 1"}, "start i0", corev1.PodFailed, ""},
		"an init container is tried again":      {makePod(always, 1, 0, 1), []string{"exit i0 1", "exit i0 0"}, "start i0, start i0, start m0", corev1.PodRunning, ""},
		"a sidecar goes with the main":          {makePod(never, 0, 2, 1), []string{"exit m0 0", "exit s1 0", "exit s0 143"}, "start s0, start s1, start m0, stop s1, stop s0", corev1.PodSucceeded, ""},
		"a sidecar is restarted":                {makePod(never, 0, 1, 1), []string{"exit s0 0"}, "start s0, start m0, start s0", corev1.PodRunning, ""},
		"a deletion stops, then kills":          {makePod(always, 0, 0, 1), []string{"delete 10", "wait 10"}, "start m0, stop m0, kill m0", corev1.PodFailed, ""},
		"a second deletion is quicker":          {makePod(always, 0, 0, 1), []string{"delete 10", "delete 0"}, "start m0, stop m0, kill m0", corev1.PodFailed, ""},
		"no restart while it is deleted":        {makePod(always, 0, 0, 1), []string{"delete 10", "exit m0 0"}, "start m0, stop m0", corev1.PodSucceeded, ""},
		"the deadline ends the pod":             {withDeadline, []string{"wait 5", "exit m0 143"}, "start m0, stop m0", corev1.PodFailed, ReasonDeadline},
		"after ten good minutes no back-off":    {makePod(always, 0, 0, 1), []string{"exit m0 1", "exit m0 1", "wait 1", "wait 600", "exit m0 1"}, "start m0, start m0, start m0, start m0", corev1.PodRunning, ""},
		"the back-off doubles up to its limit":  {makePod(always, 0, 0, 1), []string{"exit m0 1", "exit m0 1", "wait 1", "exit m0 1", "wait 1", "wait 1", "exit m0 1", "wait 4", "exit m0 1", "wait 4"}, "start m0, start m0, start m0, start m0, start m0, start m0", corev1.PodRunning, ""},
		"deleted before the init is through":    {makePod(always, 1, 0, 1), []string{"delete 5", "exit i0 143"}, "start i0, stop i0", corev1.PodFailed, ""},
		"a failed init stops the sidecars, too": {makePod(never, 1, 1, 1), []string{"exit i0 1", "exit s0 0"}, "start s0, start i0, stop s0", corev1.PodFailed, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(c.pod)
			w.story(t, c.story...)
			if got := strings.Join(w.log, ", "); got != c.log {
				t.Errorf("actions\n got %s\nwant %s", got, c.log)
			}
			status := w.pod.Status(w.now)
			if status.Phase != c.phase || status.Reason != c.reason {
				t.Errorf("phase %s, reason %q; want %s, %q", status.Phase, status.Reason, c.phase, c.reason)
			}
		})
	}
}

func TestStatusWhileAContainerKeepsFailing(t *testing.T) {
	w := newWorld(makePod(corev1.RestartPolicyAlways, 0, 0, 1))
	w.story(t, "exit m0 7", "exit m0 7")
	status := w.pod.Status(w.now)
	got := status.ContainerStatuses[0]
	if got.State.Waiting == nil || got.State.Waiting.Reason != ReasonBackOff || got.RestartCount != 1 || got.LastTerminationState.Terminated == nil || got.LastTerminationState.Terminated.ExitCode != 7 {
		t.Errorf("got %+v", got)
	}
	conditions := map[corev1.PodConditionType]string{}
	for _, condition := range status.Conditions {
		conditions[condition.Type] = string(condition.Status) + " " + condition.Reason
	}
	want := map[corev1.PodConditionType]string{
		corev1.PodReadyToStartContainers: "True ", corev1.PodInitialized: "True ", corev1.ContainersReady: "False ContainersNotReady",
		corev1.PodReady: "False ContainersNotReady", corev1.PodScheduled: "True ",
	}
	if diff := cmp.Diff(want, conditions); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRestoreIsHonest(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	done := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 0, Reason: ReasonCompleted}}
	cases := map[string]struct {
		pod    *corev1.Pod
		states []corev1.ContainerState // init, then main
		log    string
		phase  corev1.PodPhase
	}{
		"a pod that must not restart failed":        {makePod(corev1.RestartPolicyNever, 1, 0, 1), []corev1.ContainerState{done, running}, "", corev1.PodFailed},
		"others start again, init containers first": {makePod(corev1.RestartPolicyOnFailure, 1, 0, 1), []corev1.ContainerState{done, running}, "start i0", corev1.PodPending},
		"what had succeeded stays":                  {makePod(corev1.RestartPolicyOnFailure, 0, 0, 2), []corev1.ContainerState{done, running}, "start m1", corev1.PodRunning},
		"a pod that had not started starts":         {makePod(corev1.RestartPolicyNever, 0, 0, 1), nil, "start m0", corev1.PodRunning},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			n := len(c.pod.Spec.InitContainers)
			for i, state := range c.states {
				if i < n {
					c.pod.Status.InitContainerStatuses = append(c.pod.Status.InitContainerStatuses, corev1.ContainerStatus{Name: c.pod.Spec.InitContainers[i].Name, State: state})
				} else {
					c.pod.Status.ContainerStatuses = append(c.pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.pod.Spec.Containers[i-n].Name, State: state})
				}
			}
			w := &world{pod: RestorePod(c.pod, epoch), now: epoch}
			w.pod.Prepared = true
			w.settle()
			if got := strings.Join(w.log, ", "); got != c.log {
				t.Errorf("got %q, want %q", got, c.log)
			}
			if phase := w.pod.Status(w.now).Phase; phase != c.phase {
				t.Errorf("phase %s, want %s", phase, c.phase)
			}
		})
	}
}

// TestPodNeverEndsWhileSomethingRuns plays random exits, waits and deletions.
func TestPodNeverEndsWhileSomethingRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		restart := rapid.SampledFrom([]corev1.RestartPolicy{corev1.RestartPolicyAlways, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure}).Draw(t, "restart")
		pod := makePod(restart, rapid.IntRange(0, 2).Draw(t, "init"), rapid.IntRange(0, 2).Draw(t, "sidecars"), rapid.IntRange(1, 3).Draw(t, "mains"))
		w := newWorld(pod)
		w.settle()
		ended := false
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			c := rapid.SampledFrom(w.pod.Containers).Draw(t, "container")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				w.pod.StopAll(Stop{By: w.now.Add(3 * time.Second)})
			case 1, 2:
				w.now = w.now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "seconds")) * time.Second)
			default:
				if c.isContainerActive() {
					w.exit(c.Spec.Name, rapid.SampledFrom([]int{0, 0, 1, 137}).Draw(t, "code"))
				}
			}
			before := len(w.log)
			w.settle()
			status := w.pod.Status(w.now)
			final := status.Phase == corev1.PodSucceeded || status.Phase == corev1.PodFailed
			if final && w.pod.HasActiveContainers() {
				t.Fatalf("phase %s while something runs: %v", status.Phase, w.log)
			}
			if ended && (!final || len(w.log) > before) {
				t.Fatalf("the pod came back: %v", w.log)
			}
			ended = final
			for _, main := range w.pod.Containers {
				for _, other := range w.pod.Containers {
					if main.Kind == Main && main.isContainerActive() && other.Kind == Init && other.isContainerActive() {
						t.Fatalf("%s and %s run together: %v", main.Spec.Name, other.Spec.Name, w.log)
					}
				}
			}
		}
	})
}
