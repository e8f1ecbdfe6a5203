package plan

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	batch "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/podlife"
)

// member is a pod of the job, read.
type member struct {
	pod   *corev1.Pod
	place Place // Task is -1 when the job has no such task
	// inRange: the place is one that the spec wants.
	inRange bool
	version int32
	marked  bool // stopped by us, by its annotation
	gone    bool // told to go, by whomever
	ours    bool // told to go by this process
	refused bool // its node did not take it in: it is still to be run
	stop    bool // this plan stops it
	// stopMark: its end must be marked as ours, or it would look like an eviction.
	stopMark bool
}

func (m *member) phase() corev1.PodPhase {
	if m.refused {
		return corev1.PodPending
	}
	return m.pod.Status.Phase
}

func (m *member) finished() bool {
	return m.phase() == corev1.PodSucceeded || m.phase() == corev1.PodFailed
}

// live: it holds, or is about to hold, resources, and nobody told it to go.
func (m *member) live() bool { return !m.gone && !m.finished() }

// census is the pods of a job by place.
type census struct {
	members []member
	taken   map[Place]*member
}

// PodIdentity reads what a job's pod says of itself in its annotations. ok is false for a pod that is not a job's pod.
func PodIdentity(pod *corev1.Pod) (task string, index, version int32, ok bool) {
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

// Marked says whether a pod carries the mark of one that we stop.
func Marked(pod *corev1.Pod) bool { return pod.Annotations[keys.OutOfSync] == "true" }

func takeCensus(job *batch.Job, in *Input) *census {
	tasks := make(map[string]int, len(job.Spec.Tasks))
	for i := range job.Spec.Tasks {
		tasks[job.Spec.Tasks[i].Name] = i
	}
	c := &census{members: make([]member, 0, len(in.Pods)), taken: make(map[Place]*member, len(in.Pods))}
	for _, pod := range in.Pods {
		task, index, version, ok := PodIdentity(pod)
		if !ok {
			continue
		}
		m := member{pod: pod, place: Place{Task: -1, Index: index}, version: version, marked: Marked(pod),
			gone: pod.DeletionTimestamp != nil || in.Killed[pod.UID], ours: in.Killed[pod.UID]}
		m.refused = Refused(pod) && !refusalsUsedUp(job)
		if t, known := tasks[task]; known {
			m.place.Task = t
			m.inRange = index < job.Spec.Tasks[t].Replicas
		}
		c.members = append(c.members, m)
	}
	for i := range c.members {
		c.taken[c.members[i].place] = &c.members[i]
	}
	return c
}

// counters are the numbers of a status.
type counters struct {
	pending, running, succeeded, failed, terminating, unknown int32
	cancelled                                                 int32 // places at which nothing is to run, nor has
	cutShort                                                  int32 // finished pods of elements that were cancelled before all of their pods had finished
	tasks                                                     map[string]batch.TaskState
}

// live is the number of pods that hold resources or still go away.
func (c *counters) live() int32 {
	return c.pending + c.running + c.unknown + c.terminating
}

// count counts the pods as they will be once those that this plan stops are on their way.
func (c *census) count(job *batch.Job) counters {
	n := counters{tasks: map[string]batch.TaskState{}}
	for i := range c.members {
		m := &c.members[i]
		if m.gone || m.stop {
			n.terminating++
			continue
		}
		if !m.inRange {
			continue
		}
		n.add(job.Spec.Tasks[m.place.Task].Name, m.phase())
	}
	return n
}

func (n *counters) add(task string, phase corev1.PodPhase) {
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

// Evicted says whether somebody told a pod to go before it had finished. The containers of such a pod may well have ended since.
func Evicted(pod *corev1.Pod) bool {
	return !podlife.Finished(pod) || podlife.Killed(pod)
}
