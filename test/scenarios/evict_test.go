package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

// budget creates a PodDisruptionBudget: select=app=x allowed=1 desired=2 disrupted=POD. An empty selector (select=)
// matches all pods, a missing one matches no pods.
func (w *world) budget(args []string) []string {
	p := &policyv1.PodDisruptionBudget{}
	p.Namespace, p.Name = "default", args[0]
	for _, word := range args[1:] {
		switch key, value := pair(word); key {
		case "select":
			p.Spec.Selector = &metav1.LabelSelector{}
			if label, text, ok := strings.Cut(value, "="); ok {
				p.Spec.Selector.MatchLabels = map[string]string{label: text}
			}
		case "allowed":
			p.Status.DisruptionsAllowed = int32(number(w, value))
		case "desired":
			p.Status.DesiredHealthy = int32(number(w, value))
		case "disrupted":
			p.Status.DisruptedPods = map[string]metav1.Time{value: metav1.NewTime(w.now)}
		default:
			w.fatal("budget: %q: no such word", word)
		}
	}
	w.budgets[args[0]] = p
	w.model.Apply(model.BudgetFrom(p))
	return []string{"budget " + args[0]}
}

// bound records in a pod's conditions that it runs.
func (w *world) bound(p *corev1.Pod) {
	now := metav1.NewTime(w.now)
	p.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now},
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now},
	}
}

// unready makes a running pod not ready.
func (w *world) unready(name string) {
	p := w.pods[name]
	p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady })
	w.update(p)
}

// nominate writes the nominated nodes of a decision to the pods.
func (w *world) nominate(d *decision.Decisions) {
	for _, n := range d.Nominations {
		if p := w.pods[n.Pod.Name]; p != nil && n.Publish {
			p.Status.NominatedNodeName = n.Node
		}
	}
}

// linger marks an evicted pod as terminating.
func (w *world) linger(name string) {
	p := w.pods[name]
	by := metav1.NewTime(w.now.Add(30 * time.Second)) // the end of its grace period
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &by, new(int64(30))
	w.update(p)
}

// ended sets a pod's final phase and the time of its end, which is now.
func (w *world) ended(p *corev1.Pod, phase corev1.PodPhase) {
	p.Status.Phase = phase
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(w.now)}}}}
}

// gone ends the terminating pods.
func (w *world) gone() []string {
	var names []string
	for name, p := range w.pods {
		if p.DeletionTimestamp != nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		w.dropPod(name)
	}
	return []string{"gone: " + strings.Join(names, " ")}
}

// evictions describes the explanation's reasons against evictions, and the gang that evicted this one.
func evictions(e *schedulingv1beta1.Explanation) []string {
	var out []string
	for _, s := range e.Spared {
		out = append(out, strings.TrimRight(fmt.Sprintf("  spared: %d %s %s", s.Pods, s.Reason, s.Detail), " "))
	}
	if e.EvictedBy != "" {
		out = append(out, "  evicted by: "+e.EvictedBy)
	}
	return out
}
