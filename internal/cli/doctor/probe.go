package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
)

const (
	// probePeriod is the time between two reads of the probe job.
	probePeriod = 300 * time.Millisecond
	// cleanupTimeout is the time limit for deleting the probe job, also after an interruption.
	cleanupTimeout = 10 * time.Second
	// probeLifetimeSeconds is the time after which the controllers delete the finished job if vcctl was killed.
	probeLifetimeSeconds = 60
)

// probeFacts holds the state of the probe job.
type probeFacts struct {
	job     *batchv1alpha1.Job // nil if it was not created
	group   *schedulingv1beta1.PodGroup
	pod     *corev1.Pod
	waited  time.Duration
	problem *Finding // why the job could not be created or watched
}

// newProbeJob returns a job with one small pod that runs under the strictest Pod Security Standard.
func (o *options) newProbeJob() *batchv1alpha1.Job {
	container := corev1.Container{
		Name: "probe", Image: o.image,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
	if o.image == defaultProbeImage {
		container.Command = []string{defaultProbeCommand}
	}
	var labels map[string]string
	if o.probeAccount != "" {
		labels = map[string]string{keys.Account: o.probeAccount}
	}
	return &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "vc-doctor-" + rand.String(6), Namespace: o.probeNamespace, Labels: labels},
		Spec: batchv1alpha1.JobSpec{
			Queue: keys.DefaultQueue, SchedulerName: keys.DefaultSchedulerName, MinAvailable: 1, MaxRetry: 1, TTLSecondsAfterFinished: new(int32(probeLifetimeSeconds)),
			Tasks: []batchv1alpha1.TaskSpec{{Name: "probe", Replicas: 1, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{container}, AutomountServiceAccountToken: new(false),
				SecurityContext: &corev1.PodSecurityContext{
					RunAsNonRoot: new(true), RunAsUser: new(int64(65532)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
				},
			}}}},
		},
	}
}

func checkProbe(ctx context.Context, r *reader) []Finding {
	if r.o.noProbe {
		return []Finding{skipped("--no-probe is set")}
	}
	ctx = cli.WithoutWarnings(ctx)
	job := r.o.newProbeJob()
	begun := r.o.f.Now()
	// The request is not cancelled with ctx, because an interrupted request may have created the job.
	creating, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	err := r.c.Create(creating, job)
	cancel()
	if wasRejected(err) {
		return decideProbe(&probeFacts{problem: r.probeRejected(err)})
	}
	var facts probeFacts
	if err != nil {
		problem := r.unreadable(err, "the response to the probe job "+job.Namespace+"/"+job.Name)
		facts.problem = &problem
	} else {
		facts = r.watchProbe(ctx, job)
	}
	facts.waited = r.o.f.Now().Sub(begun).Round(time.Millisecond)
	findings := decideProbe(&facts)
	if leftover := r.deleteProbe(ctx, job); leftover != nil {
		findings = append(findings, *leftover)
	}
	return findings
}

// wasRejected reports whether the API server has not created an object because of a rule or a missing permission.
func wasRejected(err error) bool {
	switch _, isUnreachable := cli.WebhookCallFailure(err); {
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsNotFound(err):
		return true
	default:
		return isUnreachable
	}
}

func (r *reader) probeRejected(err error) *Finding {
	human := cli.HumanizeError(err, r.o.f.DescribeConnection())
	if cli.IsPermissionMissing(err) {
		finding := skipped("you may not create jobs in namespace %s; choose another namespace with --probe-namespace", r.o.probeNamespace)
		return &finding
	}
	if r.o.probeAccount == "" && isAboutAccount(err) {
		finding := skipped("each job needs an account here, and you have no default account; name one of yours with --probe-account")
		return &finding
	}
	finding := failed(firstText(human.Hint, "see the other findings"), "the API server rejected the probe job: %s", human.What)
	return &finding
}

// isAboutAccount reports whether an object was rejected because of its account.
func isAboutAccount(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return false
	}
	label := field.NewPath("metadata", "labels").Key(keys.Account).String()
	return slices.ContainsFunc(status.Status().Details.Causes, func(cause metav1.StatusCause) bool { return cause.Field == label })
}

// watchProbe reads the job's pod until it has started, has no chance to start, or the time is up.
func (r *reader) watchProbe(ctx context.Context, job *batchv1alpha1.Job) probeFacts {
	ctx, cancel := context.WithTimeout(ctx, r.o.timeout)
	defer cancel()
	facts := probeFacts{job: job}
	ticker := time.NewTicker(probePeriod)
	defer ticker.Stop()
	for {
		if err := r.readProbe(ctx, &facts); err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				problem := r.unreadable(err, "the pods of the probe job "+job.Namespace+"/"+job.Name)
				facts.problem = &problem
			}
			return facts
		}
		if facts.pod != nil && (hasStarted(facts.pod) || stuckReason(facts.pod) != "") {
			return facts
		}
		select {
		case <-ctx.Done():
			return facts
		case <-ticker.C:
		}
	}
}

// readProbe reads the pod and the PodGroup of the job.
func (r *reader) readProbe(ctx context.Context, facts *probeFacts) error {
	var pods corev1.PodList
	if err := r.c.List(ctx, &pods, client.InNamespace(facts.job.Namespace), client.MatchingLabels{keys.JobName: facts.job.Name}); err != nil {
		return err
	}
	if len(pods.Items) > 0 {
		facts.pod = &pods.Items[0]
	}
	var groups schedulingv1beta1.PodGroupList
	if err := cli.IgnoreForbidden(r.c.List(ctx, &groups, client.InNamespace(facts.job.Namespace))); err != nil {
		return err
	}
	for i := range groups.Items {
		if owner := metav1.GetControllerOf(&groups.Items[i]); owner != nil && owner.UID == facts.job.UID {
			facts.group = &groups.Items[i]
		}
	}
	return nil
}

// hasStarted reports whether a container of the pod runs or has run.
func hasStarted(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		state := &pod.Status.ContainerStatuses[i].State
		hasRun := state.Terminated != nil && state.Terminated.Reason != "StartError"
		if state.Running != nil || hasRun {
			return true
		}
	}
	return pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == corev1.PodSucceeded
}

// stuckReason returns why a pod on a node will not start, or "".
func stuckReason(pod *corev1.Pod) string {
	for i := range pod.Status.ContainerStatuses {
		state := &pod.Status.ContainerStatuses[i].State
		if waiting := state.Waiting; waiting != nil {
			switch waiting.Reason {
			case "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerError", "CreateContainerConfigError", "RunContainerError":
				return firstText(waiting.Message, waiting.Reason)
			}
		}
		if state.Terminated != nil && state.Terminated.Reason == "StartError" {
			return firstText(state.Terminated.Message, state.Terminated.Reason)
		}
	}
	if pod.Status.Phase == corev1.PodFailed && len(pod.Status.ContainerStatuses) == 0 {
		return firstText(pod.Status.Message, pod.Status.Reason, "the pod failed")
	}
	return ""
}

// deleteProbe deletes the job, also if ctx is done. It returns a finding if the job may still exist.
func (r *reader) deleteProbe(ctx context.Context, job *batchv1alpha1.Job) *Finding {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()
	err := r.c.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) == nil {
		return nil
	}
	finding := failed(fmt.Sprintf("delete it: vcctl job delete %s -n %s", job.Name, job.Namespace), "the probe job could not be deleted: %v", err)
	return &finding
}

// decideProbe returns the finding about the probe job.
func decideProbe(facts *probeFacts) []Finding {
	if facts.problem != nil {
		return []Finding{*facts.problem}
	}
	name := "probe job " + facts.job.Namespace + "/" + facts.job.Name
	pod := facts.pod
	switch {
	case pod == nil && facts.group == nil:
		return []Finding{failed("check that the controllers run: see the check leases", "%s: the controllers created no PodGroup and no pod within %s", name, facts.waited)}
	case pod == nil:
		return []Finding{failed(waitingHint(facts.group), "%s was not admitted to its queue within %s%s", name, facts.waited, waitingReason(facts.group))}
	case pod.Spec.NodeName == "":
		return []Finding{failed(waitingHint(facts.group), "%s: the pod was not placed on a node within %s%s", name, facts.waited, waitingReason(facts.group))}
	case hasStarted(pod):
		return []Finding{ok("a job with one pod started on node %s within %s", pod.Spec.NodeName, facts.waited)}
	case stuckReason(pod) != "":
		return []Finding{warning("choose an image that the nodes can pull and start with --image", "%s: the pod was placed on node %s, but does not start: %s", name, pod.Spec.NodeName, stuckReason(pod))}
	}
	return []Finding{warning("look at the node, or raise --timeout if it is pulling the image: kubectl describe node "+pod.Spec.NodeName,
		"%s: the pod was placed on node %s, but did not start within %s", name, pod.Spec.NodeName, facts.waited)}
}

// waitingReason returns the scheduler's explanation with a separator, or "".
func waitingReason(group *schedulingv1beta1.PodGroup) string {
	if group == nil || group.Status.Explanation == nil {
		return ": the scheduler gave no reason"
	}
	return ": " + group.Status.Explanation.Message
}

func waitingHint(group *schedulingv1beta1.PodGroup) string {
	if group == nil || group.Status.Explanation == nil {
		return "check that the scheduler runs: see the check leases"
	}
	return firstText(group.Status.Explanation.Hint, "see vcctl queue list and vcctl node list, or raise --timeout")
}
