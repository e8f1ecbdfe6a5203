package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/podtermination"
)

// oneEviction is the time span within which evicted pods count as part of the same eviction.
const oneEviction = time.Minute

// victim is a pod of the job that was evicted.
type victim struct {
	place       Place
	pod         *corev1.Pod
	at, created time.Time
	cause       Cause
	message     string
}

// recordEvictions adds evicted pods to the status unless it already lists them. It ignores pods that the job
// controller stopped and pods that were deleted without a reason.
func (b *builder) recordEvictions() {
	for _, v := range b.findVictims() {
		b.recordEviction(&v)
	}
}

// findVictims returns the evicted pods that still exist or were lost since the last plan, in the order of their
// evictions.
func (b *builder) findVictims() []victim {
	var list []victim
	add := func(place Place, pod *corev1.Pod) {
		cause, disrupted := disruptionCause(b.placeDisplayName(place), pod)
		if !disrupted || !WasEvicted(pod) {
			return
		}
		v := victim{place: place, pod: pod, at: b.in.Now, created: pod.CreationTimestamp.Time, cause: cause, message: disruptionText(pod)}
		if pod.DeletionTimestamp != nil {
			v.at = podtermination.DeletionRequestedAt(pod)
		}
		list = append(list, v)
	}
	for _, m := range b.census.members {
		isHandled := m.marked || m.ours
		if m.gone && !isHandled && m.place.Task >= 0 {
			add(m.place, m.pod)
		}
	}
	for i := range b.in.Lost {
		l := &b.in.Lost[i]
		if task := b.findTaskIndex(l.Task); task >= 0 && !l.Failed && l.Pod != nil {
			add(Place{Task: task, Index: l.Index}, l.Pod)
		}
	}
	slices.SortStableFunc(list, func(x, y victim) int {
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.place.Task, y.place.Task), cmp.Compare(x.place.Index, y.place.Index))
	})
	return list
}

// recordEviction adds a pod to the last eviction if the pod is part of it, and to a new eviction otherwise.
func (b *builder) recordEviction(v *victim) {
	record := b.job.Status.Evictions
	if record == nil {
		record = &batchv1alpha1.JobEvictions{}
		b.job.Status.Evictions = record
	}
	task := b.job.Spec.Tasks[v.place.Task].Name
	last := &record.Last
	since := v.at.Sub(last.At.Time)
	if together := since.Abs() <= oneEviction && !v.created.After(last.At.Time); record.Times == 0 || !together {
		if record.Times > 0 && since < 0 {
			return // the pod is part of an earlier eviction and was counted then
		}
		record.Times++
		*last = batchv1alpha1.JobEviction{At: metav1.NewTime(v.at.Truncate(time.Second)), Reason: v.cause.reasonCodeText(), Message: v.message}
		b.appendEvent(corev1.EventTypeWarning, "Evicted", "Pods are evicted: %s", v.message)
	}
	counted, _ := batchv1alpha1.ParseIndices(last.Tasks[task])
	if counted.Has(v.place.Index) {
		return
	}
	if last.Tasks == nil {
		last.Tasks = map[string]string{}
	}
	last.Tasks[task] = counted.Union(batchv1alpha1.IndicesOf([]int32{v.place.Index})).String()
	last.Pods++
	record.Pods++
	if started := v.pod.Status.StartTime; started != nil && !started.IsZero() {
		if ran := v.at.Sub(started.Time).Truncate(time.Second); ran > 0 && (last.Ran == nil || ran > last.Ran.Duration) {
			last.Ran = &metav1.Duration{Duration: ran}
		}
	}
}

// mostOfReason is the maximum number of characters stored for the reason of an eviction.
const mostOfReason = 300

// disruptionText returns the reason for an eviction, as given by the pod's DisruptionTarget condition.
func disruptionText(pod *corev1.Pod) string {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != corev1.DisruptionTarget || c.Status != corev1.ConditionTrue {
			continue
		}
		text := podtermination.EvictionCause(c.Message)
		switch c.Reason {
		case evictionByAPI:
			text = "the eviction was requested through the API, as kubectl drain does"
		case byTaintManager:
			text = "the node has a taint that the pod does not tolerate, or the node is not ready: " + text
		}
		if letters := []rune(text); len(letters) > mostOfReason {
			text = string(letters[:mostOfReason-1]) + "…"
		}
		return cmp.Or(strings.TrimSpace(text), fmt.Sprintf("reason %s", c.Reason))
	}
	return ""
}
