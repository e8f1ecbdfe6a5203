package stream

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// simulatedError returns a single error about the pods on simulated nodes, or nil if none exist.
func (o *logsOptions) simulatedError(pods []*corev1.Pod) error {
	if len(pods) == 0 {
		return nil
	}
	hint := "vcctl job run --node-selector " + keys.NodeKind + "=process (in a file: nodeSelector of the pod template) keeps a job off simulated nodes"
	if len(pods) == 1 {
		return usererror.Errorf(hint, "%s, so there are no logs", lookup.NothingRunsText(pods[0]))
	}
	where := make([]string, len(pods))
	for i, pod := range pods {
		where[i] = jobstatus.ShortPod(o.job.Name, pod.Name) + " on " + pod.Spec.NodeName
	}
	return usererror.Errorf(hint, "%d pods are on simulated nodes, which do not run containers, so there are no logs (%s)", len(pods), joinNotes(where))
}

// silenceReasons returns the known reasons why a container wrote no output: it never started, or its node reported a
// problem.
func (s *streamer) silenceReasons(ctx context.Context, c client.Client, from source) []string {
	for _, status := range jobstatus.ContainerStatuses(from.pod) {
		if status.Name != from.container {
			continue
		}
		ended := status.State.Terminated
		if ended == nil {
			ended = status.LastTerminationState.Terminated
		}
		if ended != nil && (ended.Reason == "StartError" || ended.Reason == "ContainerCannotRun") {
			return []string{fmt.Sprintf("%s wrote no logs: it could not start (%s): %s", from.label, ended.Reason, jobstatus.OneLine(ended.Message))}
		}
		if ended != nil && ended.ExitCode == 0 {
			return nil
		}
	}
	events, err := clusterops.EventsAboutObjects(ctx, c, from.pod.Namespace, from.pod)
	if err != nil {
		return nil
	}
	if warning := jobstatus.NewestWarning(from.pod, events); warning != nil {
		return []string{fmt.Sprintf("%s wrote no logs (%s): %s", from.label, warning.Reason, jobstatus.OneLine(warning.Message))}
	}
	return nil
}
