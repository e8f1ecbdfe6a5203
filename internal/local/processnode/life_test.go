package processnode

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/vc-batch/vc/internal/podusage"
)

func terminated(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	if len(pod.Status.ContainerStatuses) == 0 {
		return nil
	}
	return pod.Status.ContainerStatuses[0].State.Terminated
}

func TestEnds(t *testing.T) {
	startNode(t, "ends")
	ns := namespace(t)
	cases := map[string]struct {
		pod    *corev1.Pod
		phase  corev1.PodPhase
		code   int32
		reason string
		says   string
	}{
		"killed by a signal":       {shell("signal", "ends", "kill -9 $$$$"), corev1.PodFailed, 137, "Error", ""},
		"a message for the status": {shell("message", "ends", "echo because > /dev/termination-log; exit 4"), corev1.PodFailed, 4, "Error", "because\n"},
		"the log's end as the message": {shell("fallback", "ends", "echo the last words; exit 4", func(p *corev1.Pod) {
			p.Spec.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
		}), corev1.PodFailed, 4, "Error", "the last words\n"},
		"a program that does not exist": {shell("missing", "ends", "", func(p *corev1.Pod) {
			p.Spec.Containers[0].Command = []string{"no-such-program"}
		}), corev1.PodFailed, 128, "StartError", "executable file not found in $PATH"},
		"longer than its deadline": {shell("deadline", "ends", "sleep 1000"),
			corev1.PodFailed, 143, "Error", ""},
		"as another user": {shell("user", "ends", `[ "$(id -u) $(id -g) $HOME" = "65534 65534 /nonexistent" ] || { id; echo $HOME; exit 1; }`, func(p *corev1.Pod) {
			p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptrTo(int64(65534))}
			p.Spec.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
		}), corev1.PodSucceeded, 0, "Completed", ""},
		"with a root that cannot be written": {shell("readonly", "ends", "touch /x 2>/dev/null && exit 1; echo fine > /dev/termination-log", func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{ReadOnlyRootFilesystem: ptrTo(true)}
		}), corev1.PodSucceeded, 0, "Completed", "fine\n"},
	}
	if os.Geteuid() != 0 {
		delete(cases, "as another user")
	}
	for _, c := range cases {
		create(t, ns, c.pod)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.pod.Name == "deadline" {
				endAfterOneSecond(t, ns, c.pod.Name)
			}
			pod := untilPhase(t, ns, c.pod.Name, c.phase)
			end := terminated(pod)
			if end == nil || end.ExitCode != c.code || end.Reason != c.reason || !strings.Contains(end.Message, c.says) {
				t.Errorf("got %+v", end)
			}
			if c.pod.Name == "deadline" && pod.Status.Reason != "DeadlineExceeded" {
				t.Errorf("reason %q", pod.Status.Reason)
			}
		})
	}
}

// endAfterOneSecond sets a deadline of a pod that is already running. If the pod had the deadline from the beginning, a
// busy machine could reach it before the container starts.
func endAfterOneSecond(t *testing.T, ns, name string) {
	t.Helper()
	untilPhase(t, ns, name, corev1.PodRunning)
	patch := []byte(`{"spec":{"activeDeadlineSeconds":1}}`)
	if _, err := client.CoreV1().Pods(ns).Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// untilLogged waits until a pod has written a word.
func untilLogged(t *testing.T, ns, pod, word string) {
	t.Helper()
	eventually(t, waitLimit, pod+" to write "+word, func() bool { return strings.Contains(logs(t, ns, pod, corev1.PodLogOptions{}), word) })
}

// The use of a running pod is written without a change of its status. With a limit, the pods take turns.
func TestTheUseOfRunningPodsIsWritten(t *testing.T) {
	node, _ := startNode(t, "use")
	if !node.machine.groups.MeasuresCPU() {
		t.Skip("control groups are not permitted: the use of pods is not measured")
	}
	ns := namespace(t)
	for _, name := range []string{"a", "b"} {
		create(t, ns, shell(name, "use", "while :; do :; done"))
		untilPhase(t, ns, name, corev1.PodRunning)
	}
	used := map[string]int64{}
	eventually(t, waitLimit, "the use of both pods grows", func() bool {
		node.PublishUses(1)
		grown := 0
		for _, name := range []string{"a", "b"} {
			use, _ := podusage.Of(get(t, ns, name))
			if used[name] == 0 {
				used[name] = use.CPUMilliseconds
			}
			if used[name] > 0 && use.CPUMilliseconds > used[name] {
				grown++
			}
		}
		return grown == 2
	})
}

func TestDeletion(t *testing.T) {
	node, _ := startNode(t, "del")
	ns := namespace(t)
	t.Run("a pod goes as soon as it has ended", func(t *testing.T) {
		create(t, ns, shell("polite", "del", "trap 'echo bye; exit 0' TERM; echo listening; while :; do sleep 0.05; done"))
		pod := untilPhase(t, ns, "polite", corev1.PodRunning)
		untilLogged(t, ns, "polite", "listening")
		began := time.Now()
		remove(t, ns, "polite", 30)
		eventually(t, waitLimit, "pod to go", func() bool { return get(t, ns, "polite") == nil })
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("took %s", took)
		}
		eventually(t, waitLimit, "directory to go", func() bool { _, err := os.Stat(node.podDir(pod.UID)); return os.IsNotExist(err) })
	})
	t.Run("a pod that does not listen is killed after its grace", func(t *testing.T) {
		create(t, ns, shell("deaf", "del", "trap '' TERM; echo deaf; while :; do sleep 0.05; done"))
		untilPhase(t, ns, "deaf", corev1.PodRunning)
		untilLogged(t, ns, "deaf", "deaf") // before that, SIGTERM ends the shell
		began := time.Now()
		remove(t, ns, "deaf", 1)
		eventually(t, waitLimit, "pod to go", func() bool { return get(t, ns, "deaf") == nil })
		if took := time.Since(began); took < time.Second || took > 5*time.Second {
			t.Errorf("took %s", took)
		}
	})
	t.Run("a pod of the same name starts anew", func(t *testing.T) {
		for range 3 {
			create(t, ns, shell("again", "del", "sleep 1000"))
			pod := untilPhase(t, ns, "again", corev1.PodRunning)
			zero := int64(0)
			if err := client.CoreV1().Pods(ns).Delete(t.Context(), "again", metav1.DeleteOptions{GracePeriodSeconds: &zero}); err != nil {
				t.Fatal(err)
			}
			next := create(t, ns, shell("again", "del", "sleep 1000"))
			if next.UID == pod.UID {
				t.Fatal("the same pod")
			}
			until(t, ns, "again", "Running anew", func(p *corev1.Pod) bool { return p.UID == next.UID && p.Status.Phase == corev1.PodRunning })
			remove(t, ns, "again", 0)
			eventually(t, waitLimit, "pod to go", func() bool { return get(t, ns, "again") == nil })
		}
	})
	t.Run("hooks run", func(t *testing.T) {
		shared := t.TempDir()
		create(t, ns, shell("hooks", "del", "sleep 1000", func(pod *corev1.Pod) {
			pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: shared}}}}
			pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
			hook := func(word string) *corev1.LifecycleHandler {
				return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "echo " + word + " >> /v/said"}}}
			}
			pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: hook("started"), PreStop: hook("stopping")}
		}))
		until(t, ns, "hooks", "Ready", ready)
		remove(t, ns, "hooks", 10)
		eventually(t, waitLimit, "pod to go", func() bool { return get(t, ns, "hooks") == nil })
		if text, _ := os.ReadFile(filepath.Join(shared, "said")); string(text) != "started\nstopping\n" {
			t.Errorf("got %q", text)
		}
	})
}

func ready(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func TestProbes(t *testing.T) {
	startNode(t, "probe")
	ns := namespace(t)
	web := func(name string, port int32, change func(*corev1.Container)) *corev1.Pod {
		return shell(name, "probe", "mkdir -p /www; cd /www; touch up; exec python3 -m http.server "+strconv.Itoa(int(port)), func(pod *corev1.Pod) {
			pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
			pod.Spec.TerminationGracePeriodSeconds = ptrTo(int64(1))
			pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: port}}
			change(&pod.Spec.Containers[0])
		})
	}
	get := &corev1.HTTPGetAction{Path: "/up", Port: intstr.FromString("web")}
	create(t, ns, web("ready", 8001, func(c *corev1.Container) {
		c.StartupProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 30, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt(8001)}}}
		c.ReadinessProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, TimeoutSeconds: 30, ProbeHandler: corev1.ProbeHandler{HTTPGet: get}}
	}))
	create(t, ns, web("alive", 8002, func(c *corev1.Container) {
		c.LivenessProbe = &corev1.Probe{PeriodSeconds: 1, FailureThreshold: 1, TimeoutSeconds: 30, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/www/up"}}}, InitialDelaySeconds: 1}
	}))
	until(t, ns, "ready", "Ready", ready)
	execIn(t, ns, "ready", false, "", "rm", "/www/up")
	until(t, ns, "ready", "not Ready", func(pod *corev1.Pod) bool { return !ready(pod) })
	if pod := untilPhase(t, ns, "ready", corev1.PodRunning); pod.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Error("readiness restarts")
	}
	until(t, ns, "alive", "Ready", ready)
	execIn(t, ns, "alive", false, "", "rm", "/www/up")
	until(t, ns, "alive", "restarted", func(pod *corev1.Pod) bool { return pod.Status.ContainerStatuses[0].RestartCount == 1 })
}

func TestContainerWithoutACommandWaits(t *testing.T) {
	startNode(t, "pause")
	ns := namespace(t)
	create(t, ns, shell("p", "pause", "", func(pod *corev1.Pod) { pod.Spec.Containers[0].Command = nil }))
	untilPhase(t, ns, "p", corev1.PodRunning)
	eventually(t, waitLimit, "an event that says why", func() bool {
		events, err := client.CoreV1().Events(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range events.Items {
			if event.Reason == "NoCommand" && strings.Contains(event.Message, "do not pull the image none:local") {
				return true
			}
		}
		return false
	})
	if out, _, code := execIn(t, ns, "p", false, "", "echo", "in"); out != "in\n" || code != 0 {
		t.Errorf("exec: %q %d", out, code)
	}
	remove(t, ns, "p", 30)
	eventually(t, 5*time.Second, "pod to go", func() bool { return get(t, ns, "p") == nil })
}

func TestSidecarGoesWithTheMainContainer(t *testing.T) {
	startNode(t, "side")
	ns := namespace(t)
	create(t, ns, shell("p", "side", "cat /dev/null; sleep 0.2; exit 0", func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{
			{Name: "side", Image: "none", Command: []string{"sh", "-c", "trap 'exit 0' TERM; while :; do sleep 0.05; done"}, RestartPolicy: ptrTo(corev1.ContainerRestartPolicyAlways)},
			{Name: "init", Image: "none", Command: []string{"true"}},
		}
	}))
	pod := untilPhase(t, ns, "p", corev1.PodSucceeded)
	for _, status := range pod.Status.InitContainerStatuses {
		if status.State.Terminated == nil || status.State.Terminated.ExitCode != 0 {
			t.Errorf("%s: %+v", status.Name, status.State)
		}
	}
}

func TestNodeRestartIsHonest(t *testing.T) {
	_, stop := startNode(t, "back")
	ns := namespace(t)
	marker := filepath.Base(t.TempDir()) + "-" + ns
	script := "exec -a " + marker + " sleep 1000"
	bash := func(name string, policy corev1.RestartPolicy) *corev1.Pod {
		return shell(name, "back", "", func(pod *corev1.Pod) {
			pod.Spec.RestartPolicy = policy
			pod.Spec.Containers[0].Command = []string{"bash", "-c", "echo said; " + script}
		})
	}
	create(t, ns, bash("never", corev1.RestartPolicyNever))
	create(t, ns, bash("always", corev1.RestartPolicyAlways))
	create(t, ns, bash("deleted", corev1.RestartPolicyAlways))
	create(t, ns, shell("done", "back", "echo kept"))
	for _, name := range []string{"never", "always", "deleted"} {
		untilPhase(t, ns, name, corev1.PodRunning)
	}
	untilPhase(t, ns, "done", corev1.PodSucceeded)
	eventually(t, waitLimit, "processes", func() bool { return count(t, marker) == 3 })
	stop()
	if n := count(t, marker); n != 0 {
		t.Errorf("%d processes outlived the node", n)
	}
	remove(t, ns, "deleted", 30)
	startNode(t, "back")
	end := terminated(untilPhase(t, ns, "never", corev1.PodFailed))
	if end == nil || end.ExitCode != 137 || end.Reason != "NodeStopped" {
		t.Errorf("never: %+v", end)
	}
	until(t, ns, "always", "restarted", func(pod *corev1.Pod) bool {
		s := pod.Status.ContainerStatuses[0]
		return pod.Status.Phase == corev1.PodRunning && s.RestartCount == 1 && s.State.Running != nil
	})
	eventually(t, waitLimit, "deleted pod to go", func() bool { return get(t, ns, "deleted") == nil })
	eventually(t, waitLimit, "one process", func() bool { return count(t, marker) == 1 })
	if got := logs(t, ns, "done", corev1.PodLogOptions{}); got != "kept\n" {
		t.Errorf("log of a pod that was over: %q", got)
	}
}

// count returns the number of processes of this machine whose name is the marker.
func count(t *testing.T, marker string) int {
	t.Helper()
	out, _ := exec.Command("pgrep", "-c", "-f", "^"+marker).Output()
	n := 0
	for _, digit := range strings.TrimSpace(string(out)) {
		n = n*10 + int(digit-'0')
	}
	return n
}
