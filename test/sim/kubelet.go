package sim

import (
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/vc-batch/vc/test/apiserver"
)

var podKind = corev1.SchemeGroupVersion.WithKind("Pod")

// kubelet runs the pods of one node. It acts on the current state of the API server, after a lag.
type kubelet struct {
	world   *World
	node    string
	process *process // nil while the node is lost
	lives   map[types.UID]*podLife

	disconnected bool      // the kubelet receives no changes, and the node sends no heartbeats
	mutedUntil   time.Time // requests of the kubelet wait until then
	brokenUntil  time.Time // containers do not start before
	brokenReason string    // why they do not start

	interrupted map[types.UID]bool // pods whose containers ran when the node was rebooted
}

// podLife is what a kubelet knows about one pod. A pod's behavior depends only on the seed and on how often a pod with
// its name was created.
type podLife struct {
	random    *rand.Rand
	stage     podStage
	stopping  bool
	scheduled bool // a look at the pod is scheduled
	late      time.Duration
	runs      int // number of the current run of the containers
	behavior  podBehavior
	failing   int // the container that fails or succeeds as behavior says; the others succeed
}

type podStage int

const (
	seen podStage = iota
	starting
	running
	finished
)

// podBehavior describes what the containers of a pod do.
type podBehavior struct {
	startTime time.Duration
	runTime   time.Duration
	exitCode  int32
	stopTime  time.Duration // after SIGTERM; more than the grace period means until SIGKILL
	outOfMem  bool
}

// drawBehavior draws the behavior of a run.
func drawBehavior(random *rand.Rand) podBehavior {
	b := podBehavior{startTime: between(random, 50*time.Millisecond, 2*time.Second), stopTime: between(random, 10*time.Millisecond, 2*time.Second)}
	switch random.IntN(4) {
	case 0:
		b.runTime = between(random, 100*time.Millisecond, 3*time.Second)
	case 1:
		b.runTime = between(random, time.Minute, 5*time.Minute)
	default:
		b.runTime = between(random, 3*time.Second, 40*time.Second)
	}
	switch random.IntN(14) {
	case 0, 1:
		b.exitCode = 1 + random.Int32N(3)
	case 2:
		b.exitCode, b.outOfMem = 137, true
	}
	if random.IntN(10) == 0 {
		b.stopTime = time.Hour // ignores SIGTERM
	}
	return b
}

// start starts the kubelet. It continues with the pods that are bound to the node.
func (k *kubelet) start() {
	k.process = &process{world: k.world, name: "kubelet " + k.node}
	k.lives = map[types.UID]*podLife{}
	for _, pod := range k.world.pods() {
		if pod.Spec.NodeName == k.node {
			k.look(pod)
		}
	}
}

// stop stops the kubelet and its containers, as a power failure does.
func (k *kubelet) stop() {
	if k.process != nil {
		k.process.end()
		k.process = nil
	}
}

// look is called after each change of a pod of the node. It schedules the kubelet's reaction.
func (k *kubelet) look(pod *corev1.Pod) {
	if k.isSilent() {
		return
	}
	life := k.lives[pod.UID]
	if life == nil {
		life = &podLife{random: k.world.randomFor("pod " + pod.Namespace + "/" + pod.Name + "/" + string(pod.UID))}
		life.behavior = drawBehavior(life.random)
		if containers := len(pod.Spec.Containers); containers > 1 {
			life.failing = k.world.randomFor("failing container " + string(pod.UID)).IntN(containers)
		}
		if pod.Annotations[ignoresSIGTERM] != "" {
			life.behavior.stopTime = time.Hour
		}
		if life.random.IntN(20) == 0 {
			life.late = between(life.random, time.Second, 20*time.Second)
		}
		k.lives[pod.UID] = life
	}
	if !life.scheduled {
		life.scheduled = true
		k.process.after(between(life.random, time.Millisecond, 30*time.Millisecond), func() {
			life.scheduled = false
			k.react(pod.Namespace, pod.Name, pod.UID, life)
		})
	}
}

// current returns the pod, or nil if it no longer exists.
func (k *kubelet) current(namespace, name string, uid types.UID) *corev1.Pod {
	pod := k.world.pod(namespace, name)
	if pod == nil || pod.UID != uid {
		return nil
	}
	return pod
}

// react takes the next step in the life of a pod.
func (k *kubelet) react(namespace, name string, uid types.UID, life *podLife) {
	pod := k.current(namespace, name, uid)
	switch {
	case pod == nil:
		delete(k.lives, uid)
	case pod.DeletionTimestamp != nil && !life.stopping:
		life.stopping = true
		k.stopPod(pod, life)
	case life.stopping || life.stage != seen:
	case isFinished(pod):
		life.stage = finished
	case pod.Status.Phase == corev1.PodRunning && k.interrupted[uid]:
		k.endInterruptedRun(pod, life)
	case pod.Status.Phase == corev1.PodRunning: // started by an earlier process on this node
		life.stage = running
		k.runUntilEnd(namespace, name, uid, life)
	case !k.world.fitsOnNode(k.node):
		life.stage = finished
		k.writeStatus(pod, func(s *corev1.PodStatus) {
			s.Phase, s.Reason, s.Message = corev1.PodFailed, "OutOfcpu", "Node didn't have enough resource: cpu"
		})
	default:
		life.stage = starting
		k.process.after(life.behavior.startTime+life.late, func() { k.startContainers(namespace, name, uid, life) })
	}
}

func (k *kubelet) startContainers(namespace, name string, uid types.UID, life *podLife) {
	pod := k.current(namespace, name, uid)
	if pod == nil || life.stopping {
		return
	}
	if k.world.now.Before(k.brokenUntil) {
		k.reportStartFailure(pod, life)
		return
	}
	life.stage = running
	now := metav1.NewTime(k.world.now)
	k.writeStatus(pod, func(s *corev1.PodStatus) {
		s.Phase = corev1.PodRunning
		if s.StartTime == nil {
			s.StartTime = &now
		}
		s.ContainerStatuses = containerStatuses(pod, func(c *corev1.ContainerStatus) {
			c.Ready, c.Started = true, ptr.To(true)
			c.State.Running = &corev1.ContainerStateRunning{StartedAt: now}
		})
	})
	k.runUntilEnd(namespace, name, uid, life)
}

func (k *kubelet) runUntilEnd(namespace, name string, uid types.UID, life *podLife) {
	life.runs++
	run := life.runs
	k.process.after(life.behavior.runTime, func() {
		if run == life.runs {
			k.endRun(namespace, name, uid, life)
		}
	})
}

// endRun ends the containers of a pod. They start again if the restart policy of the pod says so.
func (k *kubelet) endRun(namespace, name string, uid types.UID, life *podLife) {
	pod := k.current(namespace, name, uid)
	if pod == nil || life.stopping || isFinished(pod) {
		return
	}
	life.runs++
	if life.behavior.exitCode != 0 && pod.Spec.RestartPolicy != corev1.RestartPolicyNever {
		k.restartContainers(pod, life)
		return
	}
	life.stage = finished
	k.process.after(life.late, func() {
		if pod := k.current(namespace, name, uid); pod != nil && !isFinished(pod) {
			k.finishPod(pod, func(container int) (int32, bool) {
				if container != life.failing {
					return 0, false
				}
				return life.behavior.exitCode, life.behavior.outOfMem
			})
		}
	})
}

// restartContainers restarts the container of a pod that failed. The next run has another length and result.
func (k *kubelet) restartContainers(pod *corev1.Pod, life *podLife) {
	ended, now := life.behavior, metav1.NewTime(k.world.now)
	life.behavior = drawBehavior(life.random)
	k.writeStatus(pod, func(s *corev1.PodStatus) {
		if life.failing < len(s.ContainerStatuses) {
			c := &s.ContainerStatuses[life.failing]
			c.RestartCount++
			c.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: ended.exitCode, Reason: "Error", FinishedAt: now}
		}
	})
	k.runUntilEnd(pod.Namespace, pod.Name, pod.UID, life)
}

// stopPod stops the containers of a deleted pod and then removes the pod.
func (k *kubelet) stopPod(pod *corev1.Pod, life *podLife) {
	namespace, name, uid := pod.Namespace, pod.Name, pod.UID
	grace := time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 30)) * time.Second
	wait := min(life.behavior.stopTime, grace)
	if life.stage != running {
		wait = 0
	}
	k.process.after(wait+life.late, func() {
		pod := k.current(namespace, name, uid)
		if pod == nil {
			return
		}
		if !isFinished(pod) && life.stage == running {
			code := int32(143)
			if life.behavior.stopTime > grace {
				code = 137
			}
			k.finishPod(pod, func(int) (int32, bool) { return code, false })
		}
		k.process.after(between(life.random, time.Millisecond, 50*time.Millisecond), func() {
			k.send(func() *apiserver.Request {
				if k.current(namespace, name, uid) == nil {
					return nil
				}
				return &apiserver.Request{Verb: apiserver.Delete, Kind: podKind, Namespace: namespace, Name: name,
					GracePeriod: ptr.To(int64(0)), Preconditions: &metav1.Preconditions{UID: &uid}}
			})
		})
	})
}

// finishPod writes the final status of a pod. result returns the exit code of each container, and whether it ran out of
// memory.
func (k *kubelet) finishPod(pod *corev1.Pod, result func(container int) (code int32, outOfMemory bool)) {
	now := metav1.NewTime(k.world.now)
	k.writeStatus(pod, func(s *corev1.PodStatus) {
		s.Phase = corev1.PodSucceeded
		before := s.ContainerStatuses
		s.ContainerStatuses = containerStatuses(pod, func(*corev1.ContainerStatus) {})
		for i := range s.ContainerStatuses {
			code, outOfMemory := result(i)
			if code != 0 {
				s.Phase = corev1.PodFailed
			}
			c := &s.ContainerStatuses[i]
			if i < len(before) {
				c.RestartCount = before[i].RestartCount
			}
			c.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, Reason: reasonOfEnd(code, outOfMemory), FinishedAt: now}
		}
	})
}

// reasonOfEnd returns the reason that a kubelet reports for the end of a container.
func reasonOfEnd(code int32, outOfMemory bool) string {
	switch {
	case outOfMemory:
		return "OOMKilled"
	case code != 0:
		return "Error"
	}
	return "Completed"
}

// restartCount returns the number of restarts of a pod's containers.
func restartCount(s *corev1.PodStatus) int32 {
	sum := int32(0)
	for i := range s.ContainerStatuses {
		sum += s.ContainerStatuses[i].RestartCount
	}
	return sum
}

func containerStatuses(pod *corev1.Pod, set func(*corev1.ContainerStatus)) []corev1.ContainerStatus {
	statuses := make([]corev1.ContainerStatus, len(pod.Spec.Containers))
	for i := range pod.Spec.Containers {
		statuses[i] = corev1.ContainerStatus{Name: pod.Spec.Containers[i].Name, Image: pod.Spec.Containers[i].Image}
		set(&statuses[i])
	}
	return statuses
}

// kubeletRetry is the pause after a request that failed.
const kubeletRetry = time.Second

// writeStatus changes the status of a pod, as soon as the API server accepts the change.
func (k *kubelet) writeStatus(pod *corev1.Pod, change func(*corev1.PodStatus)) {
	namespace, name, uid := pod.Namespace, pod.Name, pod.UID
	k.send(func() *apiserver.Request {
		pod := k.current(namespace, name, uid)
		if pod == nil || isFinished(pod) {
			return nil
		}
		update := pod.DeepCopy()
		change(&update.Status)
		return &apiserver.Request{Verb: apiserver.Update, Subresource: "status", Kind: podKind, Namespace: namespace, Name: name, Object: update}
	})
}

// send sends a request that is made from the current state, until it succeeds or request returns nil.
func (k *kubelet) send(request func() *apiserver.Request) {
	if pause := k.mutedUntil.Sub(k.world.now); pause > 0 {
		k.world.cover("late status", "node is disconnected: "+strconv.FormatBool(k.disconnected))
		k.process.after(pause, func() { k.send(request) })
		return
	}
	r := request()
	if r == nil {
		return
	}
	r.User = "kubelet " + k.node
	err := error(connectionRefused(r))
	if !k.world.serverDown {
		_, err = k.world.do(r)
	}
	k.world.trace("%s: %s: %s", r.User, r, describeError(err))
	if err != nil {
		k.process.after(kubeletRetry, func() { k.send(request) })
	}
}

func isFinished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
