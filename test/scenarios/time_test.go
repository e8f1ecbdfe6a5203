package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/make"
)

// started records when a pod started.
func (w *world) started(p *corev1.Pod) {
	if p.Status.StartTime == nil {
		at := metav1.NewTime(w.now)
		p.Status.StartTime = &at
	}
}

// pass advances the time. Pods that reach their limit end.
func (w *world) pass(args []string) []string {
	length, err := time.ParseDuration(args[0])
	if err != nil {
		w.fatal("%v", err)
	}
	w.now = w.now.Add(length)
	var ended []string
	for _, p := range w.pods {
		limit := p.Spec.ActiveDeadlineSeconds
		if limit == nil || p.Status.Phase != corev1.PodRunning || p.Status.StartTime == nil {
			continue
		}
		if end := p.Status.StartTime.Add(time.Duration(*limit) * time.Second); !end.After(w.now) {
			p.Status.Phase = corev1.PodSucceeded
			w.update(p)
			ended = append(ended, p.Name)
		}
	}
	slices.Sort(ended)
	if len(ended) == 0 {
		return []string{"nothing ends"}
	}
	return []string{"ended: " + strings.Join(ended, " ")}
}

// after formats a time relative to the beginning of the story.
func after(t time.Time) string { return "+" + t.Sub(make.Epoch).Round(time.Second).String() }

// explain describes what `show` omits: the hints, the estimated start, and the state of the queue.
func (w *world) explain(names []string) []string {
	var out []string
	for _, name := range names {
		e := w.gangs[name].Status.Explanation
		if e == nil {
			out = append(out, name+" does not wait")
			continue
		}
		out = append(out, fmt.Sprintf("%s: %s", name, e.Reason))
		for _, h := range e.Helps {
			out = append(out, fmt.Sprintf("  helps: %s: %s", h.Kind, h.Text))
		}
		start := "unknown"
		if e.EstimatedStart != nil {
			start = after(e.EstimatedStart.Time)
		}
		out = append(out, fmt.Sprintf("  starts: %s (%s)", start, e.Estimate))
		out = append(out, queueLines(e.Queue)...)
	}
	return out
}

// members describes the numbers of the gangs' pods in their explanations.
func (w *world) members(names []string) []string {
	var out []string
	for _, name := range names {
		e := w.gangs[name].Status.Explanation
		if e == nil || e.Members == nil {
			out = append(out, name+" does not wait")
			continue
		}
		m := e.Members
		out = append(out, fmt.Sprintf("%s: %s: %d must start together; %d exist, %d have a node, %d fit now", name, e.Reason, m.Min, m.Exist, m.Running, m.Fit))
	}
	return out
}

func queueLines(q *schedulingv1beta1.ExplainedQueue) []string {
	if q == nil {
		return nil
	}
	out := []string{fmt.Sprintf("  queue: %s, %d of %d", q.Name, q.Position, q.Waiting)}
	for _, l := range q.Path {
		out = append(out, fmt.Sprintf("  above: %s used %s deserved %s guarantee %s capability %s", l.Name, listed(l.Allocated), listed(l.Deserved), listed(l.Guarantee), listed(l.Capability)))
	}
	return append(out, fmt.Sprintf("  level: %s used %s deserved %s guarantee %s capability %s", q.Name, listed(q.Allocated), listed(q.Deserved), listed(q.Guarantee), listed(q.Capability)))
}

func listed(l corev1.ResourceList) string {
	var parts []string
	for name, amount := range l {
		parts = append(parts, fmt.Sprintf("%s=%s", name, amount.String()))
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ",")
}
