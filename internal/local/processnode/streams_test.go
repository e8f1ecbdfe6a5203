package processnode

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/client-go/util/exec"
)

// sizes is a window whose size changes once.
type sizes chan remotecommand.TerminalSize

func (s sizes) Next() *remotecommand.TerminalSize {
	size, ok := <-s
	if !ok {
		return nil
	}
	return &size
}

// stream runs exec or attach over kubectl's first choice of transport (WebSocket) or its fallback (SPDY).
func stream(t *testing.T, ns, pod, verb string, options any, webSocket bool, streams remotecommand.StreamOptions) error {
	t.Helper()
	request := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(ns).Name(pod).SubResource(verb)
	switch typed := options.(type) {
	case *corev1.PodExecOptions:
		request = request.VersionedParams(typed, scheme.ParameterCodec)
	case *corev1.PodAttachOptions:
		request = request.VersionedParams(typed, scheme.ParameterCodec)
	}
	var executor remotecommand.Executor
	var err error
	if webSocket {
		executor, err = remotecommand.NewWebSocketExecutor(admin, http.MethodGet, request.URL().String())
	} else {
		executor, err = remotecommand.NewSPDYExecutor(admin, http.MethodPost, request.URL())
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	return executor.StreamWithContext(ctx, streams)
}

func execIn(t *testing.T, ns, pod string, webSocket bool, stdin string, command ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	options := &corev1.PodExecOptions{Container: "main", Command: command, Stdin: stdin != "", Stdout: true, Stderr: true}
	streams := remotecommand.StreamOptions{Stdout: &out, Stderr: &errs}
	if stdin != "" {
		streams.Stdin = strings.NewReader(stdin)
	}
	err := stream(t, ns, pod, "exec", options, webSocket, streams)
	var exit exec.CodeExitError
	switch {
	case errors.As(err, &exit):
		code = exit.Code
	case err != nil:
		t.Fatalf("exec: %v", err)
	}
	return out.String(), errs.String(), code
}

func TestExec(t *testing.T) {
	startNode(t, "exec")
	ns := namespace(t)
	create(t, ns, shell("p", "exec", "trap 'exit 0' TERM; while :; do sleep 0.1; done", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "KEY", Value: "value"}}
		pod.Spec.Containers[0].WorkingDir = "/usr"
	}))
	untilPhase(t, ns, "p", corev1.PodRunning)
	for _, webSocket := range []bool{false, true} {
		out, errs, code := execIn(t, ns, "p", webSocket, "typed\n", "sh", "-c", "cat; echo $KEY $PWD $(hostname); echo oops >&2; exit 5")
		if out != "typed\nvalue /usr p\n" || errs != "oops\n" || code != 5 {
			t.Errorf("webSocket %v: %q %q %d", webSocket, out, errs, code)
		}
	}
	if _, errs, code := execIn(t, ns, "p", false, "", "no-such-program"); code != 127 || !strings.Contains(errs, "executable file not found") {
		t.Errorf("missing program: %q %d", errs, code)
	}
	began := time.Now()
	if out, _, _ := execIn(t, ns, "p", false, "", "sh", "-c", "sleep 1000 & echo done"); out != "done\n" || time.Since(began) > 10*time.Second {
		t.Errorf("a process left in the background: %q after %s", out, time.Since(began))
	}
	window := make(sizes, 1)
	window <- remotecommand.TerminalSize{Width: 123, Height: 45}
	var screen bytes.Buffer
	err := stream(t, ns, "p", "exec", &corev1.PodExecOptions{Container: "main", Command: []string{"sh", "-c", "while [ \"$(stty size)\" != '45 123' ]; do sleep 0.05; done; stty size; tty; read x; echo got $x"}, Stdin: true, Stdout: true, TTY: true},
		true, remotecommand.StreamOptions{Stdin: strings.NewReader("answer\n"), Stdout: &screen, Tty: true, TerminalSizeQueue: window})
	close(window)
	if err != nil {
		t.Error(err)
	}
	contains(t, screen.String(), "45 123\r\n", "/dev/pts/", "got answer\r\n")
	t.Run("a tree of files goes in by tar, as kubectl cp does", func(t *testing.T) {
		archive, err := os.ReadFile(makeTar(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, errs, code := execIn(t, ns, "p", true, string(archive), "tar", "-xmf", "-", "-C", "/tmp"); code != 0 {
			t.Fatal(errs)
		}
		if out, _, _ := execIn(t, ns, "p", true, "", "cat", "/tmp/vc-copied"); out != "content" {
			t.Errorf("got %q", out)
		}
	})
}

func TestAttach(t *testing.T) {
	startNode(t, "att")
	ns := namespace(t)
	create(t, ns, shell("cat", "att", "echo ready; read x; echo you said $x; exit 3", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Stdin, pod.Spec.Containers[0].StdinOnce = true, true
	}))
	untilPhase(t, ns, "cat", corev1.PodRunning)
	var out bytes.Buffer
	input, writer := io.Pipe()
	go func() { _, _ = io.WriteString(writer, "hello\n") }()
	err := stream(t, ns, "cat", "attach", &corev1.PodAttachOptions{Container: "main", Stdin: true, Stdout: true, Stderr: true}, true,
		remotecommand.StreamOptions{Stdin: input, Stdout: &out, Stderr: io.Discard})
	_ = writer.Close()
	var exit exec.CodeExitError
	if !errors.As(err, &exit) || exit.Code != 3 {
		t.Errorf("attach ended with %v", err)
	}
	contains(t, out.String(), "you said hello\n")
	untilPhase(t, ns, "cat", corev1.PodFailed)
	contains(t, logs(t, ns, "cat", corev1.PodLogOptions{}), "ready\nyou said hello\n")
}

func TestPortForwardReachesThePodsLoopback(t *testing.T) {
	startNode(t, "port")
	ns := namespace(t)
	create(t, ns, shell("web", "port", "mkdir /www; echo page > /www/index.html; cd /www; exec python3 -u -m http.server --bind 127.0.0.1 8080"))
	untilPhase(t, ns, "web", corev1.PodRunning)
	eventually(t, waitLimit, "web server", func() bool {
		return strings.Contains(logs(t, ns, "web", corev1.PodLogOptions{}), "Serving")
	})
	roundTripper, upgrader, err := spdy.RoundTripperFor(admin)
	if err != nil {
		t.Fatal(err)
	}
	url := client.CoreV1().RESTClient().Post().Resource("pods").Namespace(ns).Name("web").SubResource("portforward").URL()
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: roundTripper}, http.MethodPost, url)
	stop, ready := make(chan struct{}), make(chan struct{})
	defer close(stop)
	forwarder, err := portforward.New(dialer, []string{"0:8080"}, stop, ready, io.Discard, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = forwarder.ForwardPorts() }()
	<-ready
	ports, err := forwarder.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		response, err := http.Get("http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(int(ports[0].Local))) + "/index.html")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if string(body) != "page\n" {
			t.Errorf("got %q", body)
		}
	}
}

func TestLogsFollowPreviousAndTail(t *testing.T) {
	startNode(t, "logs")
	ns := namespace(t)
	create(t, ns, shell("p", "logs", "echo first; for i in 1 2 3; do echo line $i; sleep 0.1; done; [ -e /hold/again ] || { touch /hold/again; exit 1; }; echo second; sleep 1000", func(pod *corev1.Pod) {
		pod.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		pod.Spec.Volumes = []corev1.Volume{{Name: "hold", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "hold", MountPath: "/hold"}}
	}))
	untilPhase(t, ns, "p", corev1.PodRunning)
	if got := logs(t, ns, "p", corev1.PodLogOptions{Follow: true}); got != "first\nline 1\nline 2\nline 3\n" {
		t.Errorf("followed: %q", got)
	}
	until(t, ns, "p", "restarted", func(pod *corev1.Pod) bool {
		s := pod.Status.ContainerStatuses[0]
		return s.RestartCount == 1 && s.State.Running != nil && s.LastTerminationState.Terminated != nil && s.LastTerminationState.Terminated.ExitCode == 1
	})
	eventually(t, waitLimit, "second line", func() bool { return strings.Contains(logs(t, ns, "p", corev1.PodLogOptions{}), "second") })
	one, zero := int64(1), int64(0)
	if got := logs(t, ns, "p", corev1.PodLogOptions{TailLines: &one}); got != "second\n" {
		t.Errorf("tail 1: %q", got)
	}
	if got := logs(t, ns, "p", corev1.PodLogOptions{TailLines: &zero}); got != "" {
		t.Errorf("tail 0: %q", got)
	}
	if got := logs(t, ns, "p", corev1.PodLogOptions{Previous: true, LimitBytes: ptrTo(int64(8))}); got != "first\nli" {
		t.Errorf("previous: %q", got)
	}
}

// TestLogsOfAnEndedPodWithAnOutdatedCache gives the node's cache an older version of the pod, as if the node had not
// yet received the status that it wrote itself.
func TestLogsOfAnEndedPodWithAnOutdatedCache(t *testing.T) {
	node, _ := startNode(t, "logscache")
	ns := namespace(t)
	create(t, ns, shell("p", "logscache", "echo done"))
	pod := untilPhase(t, ns, "p", corev1.PodSucceeded)
	eventually(t, waitLimit, "ended pod in the cache", func() bool {
		object, _, _ := node.pods.GetStore().GetByKey(ns + "/p")
		cached, ok := object.(*corev1.Pod)
		return ok && cached.ResourceVersion == pod.ResourceVersion
	})
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending}
	if err := node.pods.GetStore().Update(pod); err != nil {
		t.Fatal(err)
	}
	if got := logs(t, ns, "p", corev1.PodLogOptions{Follow: true}); got != "done\n" {
		t.Errorf("logs: %q", got)
	}
}
