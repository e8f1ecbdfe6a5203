package real

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
)

// podPatience is the maximum time until a pod on a busy machine is ready.
const podPatience = 2 * time.Minute

// TestPodsReachEachOtherOnAllNodes runs a web server on each node, and reads its page from the pods on all nodes by the
// address of the pod and by the address of a service.
func TestPodsReachEachOtherOnAllNodes(t *testing.T) {
	namespace := newNamespace(t, "network")
	for _, n := range shared.nodes {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "web-" + n.name, Namespace: namespace, Labels: map[string]string{"app": "web"}},
			Spec: corev1.PodSpec{
				NodeName: n.name, TerminationGracePeriodSeconds: new(int64(1)),
				Containers: []corev1.Container{{
					Name: "web", Image: busyboxImage, ImagePullPolicy: corev1.PullIfNotPresent,
					Command: []string{"sh", "-c", "mkdir /www; echo $HOSTNAME >/www/index.html; exec httpd -f -p 8080 -h /www"},
				}},
			},
		}
		createPod(t, pod)
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: namespace},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}}},
	}
	service, err := shared.client.CoreV1().Services(namespace).Create(t.Context(), service, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pods := map[string]*corev1.Pod{}
	for _, n := range shared.nodes {
		pods[n.name] = waitForRunning(t, namespace, "web-"+n.name)
	}
	for from := range pods {
		for to, pod := range pods {
			if got := firstLineOf(t, pods[from], "wget", "-q", "-O", "-", fmt.Sprintf("http://%s:8080/", pod.Status.PodIP)); got != "web-"+to {
				t.Errorf("from %s to %s: the page is %q", from, to, got)
			}
		}
		// The port is explicit, because Debian's static busybox crashes when it looks up a default port.
		address := fmt.Sprintf("http://%s:80/", service.Spec.ClusterIP)
		eventually(t, fmt.Sprintf("the service answers a pod on %s", from), func(ctx context.Context) error {
			got, err := execInPod(ctx, pods[from], "wget", "-q", "-O", "-", address)
			if err == nil && !strings.HasPrefix(got, "web-node-") {
				err = fmt.Errorf("the page is %q", got)
			}
			return err
		})
	}
}

// newNamespace creates a namespace, which is deleted at the end of the test.
func newNamespace(t *testing.T, name string) string {
	t.Helper()
	namespaces := shared.client.CoreV1().Namespaces()
	if _, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = namespaces.Delete(context.Background(), name, metav1.DeleteOptions{}) })
	return name
}

// createPod creates a pod. It tries again while the controllers have not created the namespace's service account.
func createPod(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	eventually(t, "create pod "+pod.Name, func(ctx context.Context) error {
		_, err := shared.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

func waitForRunning(t *testing.T, namespace, name string) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	eventually(t, fmt.Sprintf("pod %s is running", name), func(ctx context.Context) error {
		var err error
		if pod, err = shared.client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("its phase is %s: %+v", pod.Status.Phase, pod.Status.ContainerStatuses)
		}
		return nil
	})
	return pod
}

// eventually repeats an action until it succeeds. It fails the test with the last error after podPatience.
func eventually(t *testing.T, what string, action func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), poll, podPatience, true, func(ctx context.Context) (bool, error) {
		err := action(ctx)
		isTooLate := ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded)
		if !isTooLate || last == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: timed out after %s: %v", what, podPatience, last)
	}
}

// firstLineOf runs a command in a pod and returns the first line of its output.
func firstLineOf(t *testing.T, pod *corev1.Pod, command ...string) string {
	t.Helper()
	output, err := execInPod(t.Context(), pod, command...)
	if err != nil {
		t.Fatalf("pod %s: %s: %v", pod.Name, strings.Join(command, " "), err)
	}
	line, _, _ := strings.Cut(output, "\n")
	return line
}

// execInPod runs a command in the first container of a pod and returns its standard output.
func execInPod(ctx context.Context, pod *corev1.Pod, command ...string) (string, error) {
	request := shared.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(shared.plane.RESTConfig(), "GET", request.URL().String())
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	if err := executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &stdout, Stderr: &stderr}); err != nil {
		return "", fmt.Errorf("%w: %s", err, stderr.String())
	}
	return stdout.String(), nil
}
