package control

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/slurm/attach"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/state"
)

// sendSignal sends the signal to the job's processes through the launchers in the head pods.
func (s *scancel) sendSignal(ctx context.Context, t target) error {
	if t.row.State.Code.BaseCode() == state.Pending {
		return pendingError(t.ref)
	}
	heads := s.headPods(t)
	if len(heads) == 0 {
		return pendingError(t.ref)
	}
	signal := s.signal
	if signal == "" {
		signal = "TERM"
	}
	command := []string{launchconfig.Program, "signal", "--signal=" + signal}
	switch {
	case t.step == "batch" || s.Parsed.Has("batch") || s.Factory.Streams.Env("SCANCEL_BATCH") != "":
		command = append(command, "--batch")
	case t.step != "":
		command = append(command, "--step="+t.step)
	case s.Parsed.Has("full") || s.Factory.Streams.Env("SCANCEL_FULL") != "":
		command = append(command, "--full")
	}
	problems := make([]error, len(heads))
	var sent errgroup.Group
	sent.SetLimit(atOnce)
	for i, pod := range heads {
		sent.Go(func() error {
			problems[i] = attach.ExecInPod(ctx, s.Call, pod, command)
			return nil
		})
	}
	_ = sent.Wait() // the errors are in problems, in order
	return errors.Join(problems...)
}

// atOnce is the number of pods to which signals are sent concurrently.
const atOnce = 16

// headPods returns the running pods that run batch scripts: one pod per job, or one per selected element.
func (s *scancel) headPods(t target) []*corev1.Pod {
	var heads []*corev1.Pod
	for _, pod := range s.view.Pods[types.NamespacedName{Namespace: t.row.Job.Namespace, Name: t.row.Job.Name}] {
		if pod.Labels[keys.TaskSpec] != "head" || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		if t.elements != nil {
			index, err := batchv1alpha1.ParseIndices(pod.Labels[keys.ArrayIndex])
			if err != nil || len(index) == 0 || !t.elements.Has(index[0].First) {
				continue
			}
		}
		heads = append(heads, pod)
	}
	return heads
}
