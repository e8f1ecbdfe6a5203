package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	text := strings.TrimSpace(said.String())
	var status exec.CodeExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &status) && text != "":
		return fault.Errorf("", "%s: %s", pod.Name, text)
	case text != "":
		return fmt.Errorf("%s: %w: %s", pod.Name, err, text)
	}
	return fmt.Errorf("%s: %w", pod.Name, err)
}
