package podmeasure

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/extract"
	"github.com/vc-batch/vc/internal/podusage"
)

// Tracker keeps the use of the pods of jobs.
type Tracker struct {
	// maxGap is the maximum time without samples at the end of a container for which its use is estimated.
	maxGap time.Duration
	mu     sync.Mutex
	pods   map[types.UID]*pod
	// jobs holds the pods of each job, by the UIDs of both.
	jobs map[types.UID]map[types.UID]*pod
}

// pod holds the use of a pod.
type pod struct {
	name             types.NamespacedName
	uid, job         types.UID
	node             string
	attempt, element int32
	// written is the use in the annotation. triedAt is when this process last tried to write it.
	written    podusage.Use
	triedAt    time.Time
	containers map[string]*container
	gpu        gpuUse
	// isRunning is true while samples are possible. isOver is true when the use cannot grow any more.
	isRunning, isOver, isGone bool
}

// New returns an empty Tracker.
func New(maxGap time.Duration) *Tracker {
	return &Tracker{maxGap: maxGap, pods: map[types.UID]*pod{}, jobs: map[types.UID]map[types.UID]*pod{}}
}

// JobOf returns the owner of a pod that belongs to a Job of vc.
func JobOf(p *corev1.Pod) (name types.NamespacedName, uid types.UID, ok bool) {
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil || owner.Kind != "Job" || owner.APIVersion != batchv1alpha1.GroupVersion.String() {
		return types.NamespacedName{}, "", false
	}
	return types.NamespacedName{Namespace: p.Namespace, Name: owner.Name}, owner.UID, true
}

// BelongsTo reports whether a Job of vc controls a pod. Labels and names do not matter, because every user may choose them.
func BelongsTo(p *corev1.Pod, job *batchv1alpha1.Job) bool {
	name, uid, ok := JobOf(p)
	return ok && uid == job.UID && name == types.NamespacedName{Namespace: job.Namespace, Name: job.Name}
}

// attemptOf returns the number of the attempt to which a pod belongs. Each restart of the job gives the job a new version.
func attemptOf(job *batchv1alpha1.Job, p *corev1.Pod) int32 {
	version, err := strconv.ParseInt(p.Annotations[keys.JobVersion], 10, 32)
	if err != nil {
		return job.Attempt()
	}
	return max(0, job.Attempt()-max(0, job.Status.Version-int32(version)))
}

// Observe stores the state that a pod of a job has now. It returns the number of the attempt to which the pod belongs, and
// whether the use of the pod cannot grow any more.
func (t *Tracker) Observe(job *batchv1alpha1.Job, p *corev1.Pod, now time.Time) (attempt int32, isOver bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.pods[p.UID]
	if known == nil {
		known = newPod(job, p)
		t.pods[p.UID] = known
		if t.jobs[job.UID] == nil {
			t.jobs[job.UID] = map[types.UID]*pod{}
		}
		t.jobs[job.UID][p.UID] = known
	}
	known.update(p, now, t.maxGap)
	return known.attempt, known.isOver
}

func newPod(job *batchv1alpha1.Job, p *corev1.Pod) *pod {
	fresh := &pod{
		name: types.NamespacedName{Namespace: p.Namespace, Name: p.Name}, uid: p.UID, job: job.UID,
		attempt: attemptOf(job, p), element: accounting.NoElement, containers: map[string]*container{},
	}
	if n, err := strconv.ParseInt(p.Labels[keys.ArrayIndex], 10, 32); err == nil {
		fresh.element = int32(n)
	}
	return fresh
}

// maxClockDifference is the maximum difference of the clocks of two processes that measure a pod.
const maxClockDifference = 5 * time.Minute

// update stores the state that the pod has at a time.
func (p *pod) update(now *corev1.Pod, at time.Time, maxGap time.Duration) {
	p.node = now.Spec.NodeName
	use, ok := podusage.Of(now)
	// A use from the future would keep the GPUs from being measured until then.
	if isFromFuture := time.Unix(use.GPUMeasuredUntil, 0).After(at.Add(maxClockDifference)); ok && !isFromFuture {
		p.written = p.written.Max(use)
		p.gpu.resume(use)
	}
	p.isRunning = now.Status.Phase == corev1.PodRunning
	if p.isRunning && p.gpu.until.IsZero() {
		p.gpu.until = startOf(now) // an earlier pod may have had the same name
	}
	p.isOver = now.Status.Phase == corev1.PodSucceeded || now.Status.Phase == corev1.PodFailed
	var last time.Time // when the last container of an ended pod ended
	for _, statuses := range [][]corev1.ContainerStatus{now.Status.InitContainerStatuses, now.Status.ContainerStatuses} {
		for i := range statuses {
			ended, c := statuses[i].State.Terminated, p.containers[statuses[i].Name]
			if ended != nil && c != nil {
				c.end(ended.FinishedAt.Time, maxGap)
			}
			if ended != nil && p.isOver {
				last = later(last, ended.FinishedAt.Time)
			}
		}
	}
	if !last.IsZero() {
		p.gpu.end(last, maxGap)
	}
}

// startOf returns the earliest start of a container that is in the status of a pod, or else the time at which a node
// accepted the pod. It is zero if neither is known.
func startOf(p *corev1.Pod) time.Time {
	var start time.Time
	for i := range p.Status.ContainerStatuses {
		status := &p.Status.ContainerStatuses[i]
		for _, run := range []corev1.ContainerState{status.State, status.LastTerminationState} {
			switch {
			case run.Running != nil:
				start = earlier(start, run.Running.StartedAt.Time)
			case run.Terminated != nil:
				start = earlier(start, run.Terminated.StartedAt.Time)
			}
		}
	}
	if start.IsZero() && p.Status.StartTime != nil {
		return p.Status.StartTime.Time
	}
	return start
}

// earlier returns the earlier one of two times. A zero time is unknown.
func earlier(a, b time.Time) time.Time {
	switch {
	case a.IsZero():
		return b
	case b.IsZero(), a.Before(b):
		return a
	}
	return b
}

// later returns the later one of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// ObserveDeletion stores that a pod is gone. It was in the given state before.
func (t *Tracker) ObserveDeletion(job *batchv1alpha1.Job, p *corev1.Pod, now time.Time) (attempt int32) {
	attempt, _ = t.Observe(job, p, now)
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.pods[p.UID]
	known.isRunning, known.isOver, known.isGone = false, true, true
	return attempt
}

// use returns what a pod used so far.
func (p *pod) use() podusage.Use {
	cpu, peak := time.Duration(0), int64(0)
	for _, c := range p.containers {
		cpu += c.cpuBefore + c.latest.CPU
		peak += c.peakBytes
	}
	use := p.gpu.use()
	use.CPUMilliseconds, use.PeakMemoryBytes = cpu.Milliseconds(), peak
	return p.written.Max(use)
}

// UsesOf returns the measured uses of a job's pods, including deleted pods.
func (t *Tracker) UsesOf(job types.UID) []extract.PodUse {
	t.mu.Lock()
	defer t.mu.Unlock()
	var uses []extract.PodUse
	for _, p := range t.jobs[job] {
		if use := p.use(); use != (podusage.Use{}) {
			uses = append(uses, extract.PodUse{UID: p.uid, Attempt: p.attempt, Element: p.element, Use: use})
		}
	}
	slices.SortFunc(uses, func(a, b extract.PodUse) int { return cmp.Compare(a.UID, b.UID) })
	return uses
}

// HasOpenPods reports whether the use of a pod of an attempt before the given one may still grow.
func (t *Tracker) HasOpenPods(job types.UID, before int32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.jobs[job] {
		if p.attempt < before && !p.isOver {
			return true
		}
	}
	return false
}

// ForgetJob removes the pods of a job that is gone.
func (t *Tracker) ForgetJob(job types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for uid := range t.jobs[job] {
		delete(t.pods, uid)
	}
	delete(t.jobs, job)
}

// ForgetPod removes a pod whose job is gone.
func (t *Tracker) ForgetPod(uid types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.pods[uid]; p != nil {
		t.remove(p)
	}
}

// ForgetAttempts removes the deleted pods of all attempts before the given one, because these attempts are recorded.
func (t *Tracker) ForgetAttempts(job types.UID, before int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.jobs[job] {
		if p.attempt < before && p.isGone {
			t.remove(p)
		}
	}
}

// remove removes a pod. t.mu must be locked.
func (t *Tracker) remove(p *pod) {
	delete(t.pods, p.uid)
	if delete(t.jobs[p.job], p.uid); len(t.jobs[p.job]) == 0 {
		delete(t.jobs, p.job)
	}
}
