package job

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/usererror"
)

// kindSimulated is the value of keys.NodeKind on simulated nodes.
const kindSimulated = "simulated"

// simulated collects the pods that have no log because their node is simulated.
type simulated struct {
	// kind caches the value of keys.NodeKind by node name.
	kind map[string]string
	pods []*corev1.Pod
}

// collectSimulated reports whether the pod runs on a simulated node, and collects the pod if so. If the node cannot be
// read, holds returns false.
func (s *simulated) collectSimulated(ctx context.Context, c client.Client, pod *corev1.Pod) bool {
	if s.nodeKindOf(ctx, c, pod.Spec.NodeName) != kindSimulated {
		return false
	}
	if len(s.pods) == 0 || s.pods[len(s.pods)-1] != pod {
		s.pods = append(s.pods, pod)
	}
	return true
}

// nodeKindOf returns the kind of a node; it reads each node only once.
func (s *simulated) nodeKindOf(ctx context.Context, c client.Client, name string) string {
	kind, known := s.kind[name]
	if !known && name != "" {
		node := &corev1.Node{}
		if c.Get(ctx, types.NamespacedName{Name: name}, node) == nil {
			kind = node.Labels[keys.NodeKind]
		}
		s.kind[name] = kind
	}
	return kind
}

func nothingRunsText(pod *corev1.Pod) string {
	return fmt.Sprintf("pod %s is on simulated node %s: nothing runs there", pod.Name, pod.Spec.NodeName)
}

// simulatedError returns a single error about all collected pods, or nil if none exist.
func (s *simulated) simulatedError(o *logsOptions) error {
	if len(s.pods) == 0 {
		return nil
	}
	hint := "vcctl job run --node-selector " + keys.NodeKind + "=process (in a file: nodeSelector of the pod template) keeps a job off simulated nodes"
	if len(s.pods) == 1 {
		return usererror.Errorf(hint, "%s, so there are no logs", nothingRunsText(s.pods[0]))
	}
	where := make([]string, len(s.pods))
	for i, pod := range s.pods {
		where[i] = shortPod(o.job.Name, pod.Name) + " on " + pod.Spec.NodeName
	}
	return usererror.Errorf(hint, "%d pods are on simulated nodes: nothing runs there, so there are no logs (%s)", len(s.pods), joinNotes(where))
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
