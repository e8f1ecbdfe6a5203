package plan

import (
	"cmp"
	"iter"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/podtermination"
)

// member is a pod of the job, with the information from its annotations and status.
type member struct {
	pod   *corev1.Pod
	place Place // Task is -1 if the job has no such task
	// inRange is true if the place exists in the spec.
	inRange bool
	version int32
	marked  bool // has the annotation for pods that the controller stops
	gone    bool // is being deleted, for any reason
	ours    bool // deleted by this process
	refused bool // rejected by its node, so that it has not run yet
	stop    bool // this plan deletes it
	// stopMark requests that the pod be marked as stopped by the controller. Otherwise, the end of the pod would look
	// like an eviction.
	stopMark bool
}

func (m *member) podPhaseOf() corev1.PodPhase {
	if m.refused {
		return corev1.PodPending
	}
	return m.pod.Status.Phase
}

func (m *member) hasFinished() bool {
	return m.podPhaseOf() == corev1.PodSucceeded || m.podPhaseOf() == corev1.PodFailed
}

// isLivePod reports whether the pod holds resources, or soon will, and is not being deleted.
func (m *member) isLivePod() bool { return !m.gone && !m.hasFinished() }

// census holds the pods of a job. members is sorted by place, so that a plan does not depend on the order of its input.
type census struct {
	members []*member
	taken   map[Place]*member
}

// ParsePodIdentity reads the task, index and version of a job's pod from the pod's annotations. ok is false if the pod
// does not belong to a job.
func ParsePodIdentity(pod *corev1.Pod) (task string, index, version int32, ok bool) {
	a := pod.Annotations
	task, ok = a[keys.TaskSpec]
	if !ok || a[keys.JobName] == "" {
		return "", 0, 0, false
	}
	v, err := strconv.ParseInt(a[keys.JobVersion], 10, 32)
	if err != nil {
		return "", 0, 0, false
	}
	i, err := strconv.ParseInt(a[keys.TaskIndex], 10, 32)
	if err != nil || i < 0 {
		return "", 0, 0, false
	}
	return task, int32(i), int32(v), true
}

// IsMarkedOutOfSync reports whether a pod has the annotation for pods that the controller stops.
func IsMarkedOutOfSync(pod *corev1.Pod) bool { return pod.Annotations[keys.OutOfSync] == "true" }

func countMembers(job *batchv1alpha1.Job, in *Input) *census {
	tasks := make(map[string]int, len(job.Spec.Tasks))
	for i := range job.Spec.Tasks {
		tasks[job.Spec.Tasks[i].Name] = i
	}
	c := &census{members: make([]*member, 0, len(in.Pods)), taken: make(map[Place]*member, len(in.Pods))}
	storage := make([]member, len(in.Pods)) // one allocation for all members
	for i, pod := range in.Pods {
		task, index, version, ok := ParsePodIdentity(pod)
		if !ok {
			continue
		}
		m := &storage[i]
		*m = member{pod: pod, place: Place{Task: -1, Index: index}, version: version, marked: IsMarkedOutOfSync(pod),
			gone: pod.DeletionTimestamp != nil || in.Killed[pod.UID], ours: in.Killed[pod.UID]}
		m.refused = WasRejectedByNode(pod) && !refusalsUsedUp(job)
		if t, known := tasks[task]; known {
			m.place.Task = t
			m.inRange = index < job.Spec.Tasks[t].Replicas
		}
		c.members = append(c.members, m)
	}
	slices.SortFunc(c.members, compareMembers)
	for _, m := range c.members {
		c.taken[m.place] = m
	}
	return c
}

// compareMembers compares pods by place and, if they have the same place, by version and UID.
func compareMembers(x, y *member) int {
	if order := cmp.Or(x.place.Task-y.place.Task, cmp.Compare(x.place.Index, y.place.Index)); order != 0 {
		return order
	}
	return cmp.Or(cmp.Compare(x.version, y.version), cmp.Compare(x.pod.UID, y.pod.UID))
}

// inRange returns an iterator over the pods whose places exist in the spec.
func (c *census) inRange() iter.Seq[*member] {
	return func(yield func(*member) bool) {
		for _, m := range c.members {
			if m.inRange && !yield(m) {
				return
			}
		}
	}
}

// counters holds the numbers in a job status.
type counters struct {
	pending, running, succeeded, failed, terminating, unknown int32
	// number of places that have no pod and no result, and where no pod should run
	cancelled int32
	cutShort  int32 // number of finished pods in elements that were cancelled before all of their pods had finished
	tasks     map[string]batchv1alpha1.TaskState
}

// countLivePods returns the number of pods that hold resources or are being deleted.
func (c *counters) countLivePods() int32 {
	return c.pending + c.running + c.unknown + c.terminating
}

// countPods counts the pods by phase. Pods that this plan stops count as terminating.
func (c *census) countPods(job *batchv1alpha1.Job) counters {
	n := counters{tasks: map[string]batchv1alpha1.TaskState{}}
	for _, m := range c.members {
		if m.gone || m.stop {
			n.terminating++
			continue
		}
		if !m.inRange {
			continue
		}
		n.countPodPhase(job.Spec.Tasks[m.place.Task].Name, m.podPhaseOf())
	}
	return n
}

func (n *counters) countPodPhase(task string, phase corev1.PodPhase) {
	switch phase {
	case "", corev1.PodPending:
		phase = corev1.PodPending
		n.pending++
	case corev1.PodRunning:
		n.running++
	case corev1.PodSucceeded:
		n.succeeded++
	case corev1.PodFailed:
		n.failed++
	default:
		phase = corev1.PodUnknown
		n.unknown++
	}
	state := n.tasks[task]
	if state.Phase == nil {
		state.Phase = map[corev1.PodPhase]int32{}
		n.tasks[task] = state
	}
	state.Phase[phase]++
}

// WasEvicted reports whether a pod was deleted before it had finished, even if its containers have ended since.
func WasEvicted(pod *corev1.Pod) bool {
	return !podtermination.HasFinished(pod) || podtermination.WasDeletedBeforeEnd(pod)
}

// hasEndedByItself reports whether a pod has ended by itself and is not deleted.
func (m *member) hasEndedByItself() bool { return m.hasFinished() && !m.gone && !m.stop }
