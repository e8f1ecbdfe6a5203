package slurm

import (
	"bytes"
	"context"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"

	"github.com/vc-batch/vc/internal/slurm/fault"
)

// execIn runs a command in the first container of a pod; what it says on stderr when it fails is the error.
func (c *call) execIn(ctx context.Context, pod *corev1.Pod, command []string) error {
	config, err := c.f.RESTConfig()
	if err != nil {
		return err
	}
	clientset, err := c.f.Clientset()
	if err != nil {
		return err
	}
	request := clientset.CoreV1().RESTClient().Post().Resource("pods").Namespace(pod.Namespace).Name(pod.Name).SubResource("exec").VersionedParams(
		&corev1.PodExecOptions{Container: pod.Spec.Containers[0].Name, Command: command, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", request.URL().String())
	if err != nil {
		return err
	}
	var said bytes.Buffer
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: c.f.Streams.Out, Stderr: &said})
	var status exec.CodeExitError
	if errors.As(err, &status) {
		return fault.Errorf("", "%s: %s", pod.Name, strings.TrimSpace(said.String()))
	}
	return err
}
