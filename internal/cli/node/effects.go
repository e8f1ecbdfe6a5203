package node

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/jobstatus"
)

// namedPods is the maximum number of pods named per job.
const namedPods = 4

// describeEffects describes the effects of evicting pods: one line for each job that loses pods, then one for each
// other pod.
func describeEffects(ctx context.Context, c client.Reader, pods []corev1.Pod) []string {
	byJob := map[client.ObjectKey][]string{}
	var others []string
	for i := range pods {
		pod := &pods[i]
		job := pod.Labels[keys.JobName]
		switch {
		case job != "":
			key := client.ObjectKey{Namespace: pod.Namespace, Name: job}
			byJob[key] = append(byJob[key], jobstatus.ShortPod(job, pod.Name))
		case metav1.GetControllerOf(pod) == nil:
			others = append(others, fmt.Sprintf("pod %s/%s: no controller re-creates it", pod.Namespace, pod.Name))
		default:
			others = append(others, fmt.Sprintf("pod %s/%s", pod.Namespace, pod.Name))
		}
	}
	var effects []string
	for key, names := range byJob {
		effects = append(effects, describeJobEffect(ctx, c, key, names))
	}
	slices.Sort(effects)
	slices.Sort(others)
	return append(effects, others...)
}

// describeJobEffect describes how many of its pods a job loses.
func describeJobEffect(ctx context.Context, c client.Reader, key client.ObjectKey, lost []string) string {
	slices.Sort(lost)
	names := strings.Join(lost[:min(namedPods, len(lost))], ", ")
	if more := len(lost) - namedPods; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	job := &batchv1alpha1.Job{}
	if err := c.Get(ctx, key, job); err != nil { // a user who may drain nodes may lack access to jobs
		return fmt.Sprintf("job %s loses %s: %s", key, textformat.CountWithNoun(len(lost), "pod"), names)
	}
	return fmt.Sprintf("job %s (%s) loses %d of %s: %s", key, jobstatus.PhaseOrPending(job), len(lost), textformat.CountWithNoun(int(jobstatus.CountReplicas(job)), "pod"), names)
}
