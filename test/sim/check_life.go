package sim

import (
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/test/apiserver"
)

// jobHistory records what has happened to a job, as seen in the objects.
type jobHistory struct {
	commands map[busv1alpha1.Action]int // commands that have not caused a transition yet
	places   map[replicaID]*replicaHistory
	pods     []*podHistory // in the order of their creation
	byUID    map[types.UID]*podHistory
	// groupUnknown holds the versions of the job whose PodGroup was in phase Unknown.
	groupUnknown map[int32]bool
	// due holds, for each visible event of the job, the time since which it has been visible without faults.
	due     map[string]time.Time
	acted   time.Time // when the status was last written with a phase in which policies do not respond
	resumed bool
}

// replicaID identifies a replica of a task. Each of its pods replaces the one before.
type replicaID struct {
	task  string
	index int32
}

// replicaHistory records the pods that have existed for one replica.
type replicaHistory struct {
	phases    map[corev1.PodPhase]bool // phases of all pods so far
	started   map[int32]bool           // versions of pods that have started
	last      corev1.PodPhase          // phase of the newest pod
	succeeded types.UID                // the pod whose success counts; "" if the replica may run
	at        time.Time                // when it succeeded
}

func (l *jobHistory) place(p replicaID) *replicaHistory {
	if l.places[p] == nil {
		l.places[p] = &replicaHistory{phases: map[corev1.PodPhase]bool{}, started: map[int32]bool{}}
	}
	return l.places[p]
}

// historyOf returns the recorded history of a job. It creates the history if none exists.
func (c *checks) historyOf(job types.UID) *jobHistory {
	if c.histories[job] == nil {
		c.histories[job] = &jobHistory{
			commands: map[busv1alpha1.Action]int{}, places: map[replicaID]*replicaHistory{}, byUID: map[types.UID]*podHistory{},
			groupUnknown: map[int32]bool{}, due: map[string]time.Time{},
		}
	}
	return c.histories[job]
}

// recordCommand records that a user has sent a command.
func (c *checks) recordCommand(change apiserver.Change, command *busv1alpha1.Command) {
	if change.Old == nil && command.TargetObject != nil {
		c.historyOf(command.TargetObject.UID).commands[busv1alpha1.Action(command.Action)]++
	}
}

// recordGroup records that the PodGroup of a job has lost pods.
func (c *checks) recordGroup(group *schedulingv1beta1.PodGroup) {
	if owner := metav1.GetControllerOf(group); owner != nil && group.Status.Phase == schedulingv1beta1.PodGroupUnknown {
		c.historyOf(owner.UID).groupUnknown[versionOf(group.Annotations)] = true
	}
}

// placeOfPod returns the place and the version of a job's pod.
func placeOfPod(pod *corev1.Pod) (p replicaID, version int32) {
	index, _ := strconv.Atoi(pod.Annotations[keys.TaskIndex])
	return replicaID{pod.Annotations[keys.TaskSpec], int32(index)}, versionOf(pod.Annotations)
}

// versionOf returns the version of the job for which an object was created.
func versionOf(annotations map[string]string) int32 {
	version, _ := strconv.Atoi(annotations[keys.JobVersion])
	return int32(version)
}

// recordPod records what has happened to a pod of a job, and checks that no place runs again after it has succeeded.
func (c *checks) recordPod(change apiserver.Change, pod *corev1.Pod) {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != jobKind.Kind {
		return
	}
	l := c.historyOf(owner.UID)
	at, version := placeOfPod(pod)
	place := l.place(at)
	if change.Old == nil {
		if place.succeeded != "" {
			c.world.fail("pod %s is created again, although its predecessor has succeeded", pod.Name)
		}
	}
	c.recordPhase(place, pod, version)
	c.recordEvents(l, change, pod)
	isDeletion := change.Object == nil || pod.DeletionTimestamp != nil
	if !isDeletion {
		return
	}
	isFirst := change.Object == nil || change.Old == nil || change.Old.GetDeletionTimestamp() == nil
	if place.succeeded == pod.UID && isFirst && c.mayRunAgain(change.User, place, owner.UID, version) {
		place.succeeded = ""
	}
}

// mayRunAgain reports whether a replica may run again after its succeeded pod was deleted. The deletions of a restart may
// come late, for example because the API server rejects them for a while.
func (c *checks) mayRunAgain(user string, place *replicaHistory, owner types.UID, version int32) bool {
	isByController := strings.HasPrefix(user, "controllers-")
	mayNotKnowTheEnd := c.world.now.Sub(place.at) < endGrace
	if !isByController || mayNotKnowTheEnd {
		return true
	}
	for _, job := range c.world.state.jobs {
		if job.UID == owner {
			isResumed := job.Status.State.Reason == string(busv1alpha1.ResumeJobAction)
			isWholeRestart := version < job.Status.Version && !isResumed
			return isWholeRestart || isRestartedOnCompletion(job)
		}
	}
	return false
}

// isRestartedOnCompletion reports whether a policy of a job restarts pods when a task has completed.
func isRestartedOnCompletion(job *batchv1alpha1.Job) bool {
	restarts := func(p batchv1alpha1.LifecyclePolicy) bool {
		isRestart := slices.Contains([]busv1alpha1.Action{busv1alpha1.RestartJobAction, busv1alpha1.RestartTaskAction, busv1alpha1.RestartPodAction}, p.Action)
		return isRestart && hasEvent(&p, busv1alpha1.TaskCompletedEvent)
	}
	return slices.ContainsFunc(job.Spec.Policies, restarts) ||
		slices.ContainsFunc(job.Spec.Tasks, func(t batchv1alpha1.TaskSpec) bool { return slices.ContainsFunc(t.Policies, restarts) })
}

// recordPhase records the phase of a pod. It does not count the success of a pod that a restart is about to replace.
func (c *checks) recordPhase(place *replicaHistory, pod *corev1.Pod, version int32) {
	phase := pod.Status.Phase
	place.phases[phase], place.last = true, phase
	if phase != corev1.PodPending && phase != "" {
		place.started[version] = true
	}
	isReplaced := pod.DeletionTimestamp != nil || plan.IsMarkedOutOfSync(pod)
	if phase == corev1.PodSucceeded && place.succeeded == "" && !isReplaced {
		place.succeeded, place.at = pod.UID, c.world.now
	}
}

// checkLife checks that a change of a job is permitted by the model, and has a cause.
func (c *checks) checkLife(old, job *batchv1alpha1.Job) {
	l := c.historyOf(job.UID)
	c.forgetRemovedPlaces(l, job)
	before, after := &old.Status, &job.Status
	t := transition{orPending(before.State.Phase), orPending(after.State.Phase)}
	if t.from != t.to {
		c.checkTransition(l, t, old, job)
	}
	l.recordAction(t, job, c.world.now)
	if !equality.Semantic.DeepEqual(before, after) {
		c.checkResponses(l, t, job) // a user who scales a job down changes what the status means
	}
	c.checkCounters(t, before, after, job.Name)
	c.checkVersion(t, before, after, job.Name)
	c.checkCounts(l, job)
	isRepeated := after.State.Phase == batchv1alpha1.Restarting && after.State.Reason != string(busv1alpha1.ResumeJobAction) &&
		after.State.Reason != string(busv1alpha1.RestartPodAction)
	if isRepeated {
		for _, place := range l.places {
			place.succeeded = ""
		}
	}
}

func orPending(phase batchv1alpha1.JobPhase) batchv1alpha1.JobPhase {
	if phase == "" {
		return batchv1alpha1.Pending
	}
	return phase
}

// forgetRemovedPlaces drops the success of places that a job no longer has, because they run again when a user adds them
// again.
func (c *checks) forgetRemovedPlaces(l *jobHistory, job *batchv1alpha1.Job) {
	for at, place := range l.places {
		if !hasPlace(job, at) {
			place.succeeded = ""
		}
	}
}

func hasPlace(job *batchv1alpha1.Job, at replicaID) bool {
	return slices.ContainsFunc(job.Spec.Tasks, func(t batchv1alpha1.TaskSpec) bool { return t.Name == at.task && at.index < t.Replicas })
}

func (c *checks) checkTransition(l *jobHistory, t transition, old, job *batchv1alpha1.Job) {
	causes, permitted := lifeOfJobs[t]
	if !permitted {
		c.world.fail("job %s is %s after %s (%s), which the model does not permit", job.Name, t.to, t.from, job.Status.State.Message)
		return
	}
	if !slices.ContainsFunc(causes, func(one cause) bool { return c.applies(one, l, t, old, job) }) {
		c.world.fail("job %s changed from %s to %s (%s: %s), but none of the causes that permit this has occurred", job.Name, t.from, t.to, job.Status.State.Reason, job.Status.State.Message)
	}
}

// applies reports whether a cause of a transition exists.
func (c *checks) applies(one cause, l *jobHistory, t transition, old, job *batchv1alpha1.Job) bool {
	ended, succeeded := l.countEnded(job)
	switch one {
	case enoughStarted:
		return l.countStarted(job) >= min(job.Spec.MinAvailable, totalReplicas(job))
	case podsLost:
		return l.hasLostPod(job.Status.Version) || job.Generation > 1 || c.world.hasStaleReader()
	case enoughSucceeded:
		isSuccess := job.Spec.MinSuccess != nil && succeeded >= *job.Spec.MinSuccess
		return isSuccess || (ended == totalReplicas(job) && succeeded >= job.Spec.MinAvailable)
	case podsEnded:
		return l.hasFailedPod(job.Status.Version) || ended == totalReplicas(job)
	case allStopped:
		return c.countLivePods(job) == 0
	case mayRunAgain:
		return job.Status.RetryCount < job.Spec.MaxRetry || old.Status.UserRestarts > 0
	case retriesUsedUp:
		return job.Status.RetryCount >= job.Spec.MaxRetry
	case policyApplies:
		isUserRestart := job.Status.UserRestarts > old.Status.UserRestarts
		action := busv1alpha1.Action(job.Status.State.Reason)
		isOfPhase := slices.Contains(actionsInto(t), action)
		return !isUserRestart && isOfPhase && l.hasResponse(action, old, c.world.now, c.gates.fastestClock)
	case objectRejected:
		return strings.HasPrefix(job.Status.State.Message, "retry limit reached: ")
	case dependsOnItself:
		return slices.ContainsFunc(job.Spec.Tasks, func(t batchv1alpha1.TaskSpec) bool {
			return t.DependsOn != nil && slices.Contains(t.DependsOn.Name, t.Name)
		})
	case requested:
		for _, action := range actionsInto(t) {
			if l.commands[action] > 0 {
				l.commands[action]--
				return true
			}
		}
	}
	return false
}

// countEnded returns the number of places whose newest pod has ended, and of those whose pod has succeeded.
func (l *jobHistory) countEnded(job *batchv1alpha1.Job) (ended, succeeded int32) {
	for at, place := range l.places {
		switch {
		case !hasPlace(job, at):
		case place.last == corev1.PodSucceeded:
			ended++
			succeeded++
		case place.last == corev1.PodFailed:
			ended++
		}
	}
	return ended, succeeded
}

// countStarted returns the number of places that have had a started pod of the job's version, or a pod that has ended.
func (l *jobHistory) countStarted(job *batchv1alpha1.Job) int32 {
	started := int32(0)
	for at, place := range l.places {
		hasEnded := place.last == corev1.PodSucceeded || place.last == corev1.PodFailed
		if hasPlace(job, at) && (place.started[job.Status.Version] || hasEnded) {
			started++
		}
	}
	return started
}

// countLivePods returns the number of a job's pods that have not ended.
func (c *checks) countLivePods(job *batchv1alpha1.Job) int {
	live := 0
	for _, pod := range c.world.state.pods {
		if isOwnedBy(pod, job.UID) && !isFinished(pod) {
			live++
		}
	}
	return live
}

// hasLostPod reports whether a pod that was created for this version of the job was deleted, but not because the controllers
// no longer needed it.
func (l *jobHistory) hasLostPod(version int32) bool {
	return slices.ContainsFunc(l.pods, func(p *podHistory) bool { return p.version == version && !p.evicted.IsZero() })
}

// hasFailedPod reports whether a pod of this version of the job, or one that the job has kept from an earlier version, has
// failed, or a container of it has restarted.
func (l *jobHistory) hasFailedPod(version int32) bool {
	return slices.ContainsFunc(l.pods, func(p *podHistory) bool {
		return p.isOfAttempt(version) && (!p.failedAt.IsZero() || p.restarts > 0)
	})
}

// hasSucceeded reports whether the task has places, and in each of them a pod has succeeded.
func (l *jobHistory) hasSucceeded(task *batchv1alpha1.TaskSpec) bool {
	for index := range task.Replicas {
		if place := l.places[replicaID{task.Name, index}]; place == nil || !place.phases[corev1.PodSucceeded] {
			return false
		}
	}
	return task.Replicas > 0
}

// checkCounters checks that the counters of a job change only together with its phase, by one.
func (c *checks) checkCounters(t transition, before, after *batchv1alpha1.JobStatus, name string) {
	retries, userRestarts := after.RetryCount-before.RetryCount, after.UserRestarts-before.UserRestarts
	if isRestart := t.from != t.to && t.to == batchv1alpha1.Restarting; isRestart {
		if retries+userRestarts != 1 {
			c.world.fail("job %s restarts, and its status counts %d more retries and %d more restarts by users", name, retries, userRestarts)
		}
	} else if retries != 0 || userRestarts != 0 {
		c.world.fail("job %s changed from %s to %s, and its status counts %d more retries and %d more restarts by users", name, t.from, t.to, retries, userRestarts)
	}
}

// checkVersion checks that the version of a job changes only together with its phase, by one. A restart of some pods may
// also become a restart of the whole job.
func (c *checks) checkVersion(t transition, before, after *batchv1alpha1.JobStatus, name string) {
	isSameRestart := t.from == t.to && (t.to != batchv1alpha1.Restarting || before.State.Reason == after.State.Reason)
	mayRise := int32(1)
	if isSameRestart {
		mayRise = 0
	}
	if rise := after.Version - before.Version; rise < 0 || rise > mayRise {
		c.world.fail("job %s changed from %s to %s, and its version rises from %d to %d", name, t.from, t.to, before.Version, after.Version)
	}
}

// hasStaleReader reports whether controllers may have started with lists that lag behind. They may then not know yet that
// pods have started.
func (w *World) hasStaleReader() bool {
	return slices.ContainsFunc(w.replicas, func(r *replica) bool { return r.lease == controllersLease && r.stale > 0 })
}

// checkCounts checks that the status of a job does not count pods that never existed.
func (c *checks) checkCounts(l *jobHistory, job *batchv1alpha1.Job) {
	possible := map[corev1.PodPhase]int32{}
	for _, place := range l.places {
		for phase := range place.phases {
			possible[phase]++
		}
	}
	s := &job.Status
	for _, count := range []struct {
		phase    corev1.PodPhase
		inStatus int32
	}{{corev1.PodRunning, s.Running}, {corev1.PodSucceeded, s.Succeeded}, {corev1.PodFailed, s.Failed}} {
		if count.inStatus > possible[count.phase] {
			c.world.fail("job %s: the status counts %d pods that are %s, but only %d pods have ever been", job.Name, count.inStatus, count.phase, possible[count.phase])
		}
	}
}
