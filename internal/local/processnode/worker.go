package processnode

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/local/processnode/lifecycle"
	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

// worker owns a pod. Only its goroutine changes the pod's state; other goroutines post functions to it.
type worker struct {
	node *Node
	uid  types.UID
	dir  string

	inboxMu sync.Mutex
	inbox   []func()
	signal  chan struct{} // capacity 1; filled if the inbox is not empty

	// The other fields are used only by the worker's goroutine. The exceptions are the fields that logs, exec and
	// attach also use, which are guarded by mu.
	pod      *lifecycle.Pod
	writer   *statusWriter
	deleting bool // the API object is being deleted and is waiting for this worker
	gone     bool // the API object no longer exists
	leaving  bool // the node's process is ending, so nothing more is written to the API
	use      podUse

	latest      atomic.Pointer[corev1.Pod] // last version of the API object
	publishedAt atomic.Int64               // when PublishUses last chose the pod, in nanoseconds

	mu       sync.Mutex
	attempts map[string]*attempt // running attempts by container name
	podEnv   *podEnvironment     // nil until it is prepared
}

func newWorker(n *Node, api *corev1.Pod) *worker {
	w := &worker{
		node: n, uid: api.UID, dir: n.podDir(api.UID), signal: make(chan struct{}, 1), attempts: map[string]*attempt{},
		pod: lifecycle.RestorePod(api, time.Now()),
	}
	w.latest.Store(api)
	w.pod.HostIP = n.hostIP
	w.writer = newStatusWriter(n, api)
	w.use.before = usedBefore(api)
	return w
}

// postToWorker runs f on the worker's goroutine.
func (w *worker) postToWorker(f func()) {
	w.inboxMu.Lock()
	w.inbox = append(w.inbox, f)
	w.inboxMu.Unlock()
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

func (w *worker) takeInbox() []func() {
	w.inboxMu.Lock()
	defer w.inboxMu.Unlock()
	taken := w.inbox
	w.inbox = nil
	return taken
}

// runUntilDone is the worker's goroutine. It returns when nothing but the pod's logs is left on this machine.
func (w *worker) runUntilDone(ctx context.Context) {
	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	var writer sync.WaitGroup
	writer.Go(func() { w.writer.writeStatuses(writing) })
	preparing, stopPreparing := context.WithCancel(ctx)
	defer stopPreparing()
	if !w.pod.IsStopping() {
		go w.preparePodEnvironment(preparing, w.pod.API.DeepCopy())
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		for _, f := range w.takeInbox() {
			f()
		}
		now := time.Now()
		actions, wake := w.pod.Next(now, w.node.config.backOffSettings())
		for _, action := range actions {
			w.startAction(action)
		}
		if !w.leaving && !w.gone {
			w.writer.setWantedStatus(w.pod.Status(now))
		}
		if w.pod.HasFinished() {
			break
		}
		setWakeTimer(timer, wake, now)
		select {
		case <-w.signal:
		case <-timer.C:
		}
	}
	stopPreparing()
	w.releaseResources()
	if w.leaving || w.gone {
		stopWriting()
	} else {
		w.writer.finishWriting()
	}
	writer.Wait()
}

// setWakeTimer sets the timer to the given time. A zero time stands for one hour from now.
func setWakeTimer(timer *time.Timer, wake, now time.Time) {
	d := time.Hour
	if !wake.IsZero() {
		d = max(wake.Sub(now), 0)
	}
	timer.Reset(d)
}

// startAction starts an action, whose result is posted later.
func (w *worker) startAction(action lifecycle.Action) {
	c := action.Container
	switch action.Verb {
	case lifecycle.Start:
		go w.startContainer(c, c.Attempt, w.pod.API.DeepCopy())
	case lifecycle.StopGently:
		if a := w.runningAttempt(c.Spec.Name); a != nil {
			w.node.recordPodEvent(w.pod.API, corev1.EventTypeNormal, "Killing", "Stopping container "+c.Spec.Name)
			a.stopProbes()
			go a.stopGracefully(action.Until)
		}
	case lifecycle.Kill:
		if a := w.runningAttempt(c.Spec.Name); a != nil {
			a.container.Kill()
		}
	}
}

// runningAttempt returns the running attempt of a container, or nil.
func (w *worker) runningAttempt(name string) *attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.attempts[name]
}

func (w *worker) setAttempt(name string, a *attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if a == nil {
		delete(w.attempts, name)
		return
	}
	w.attempts[name] = a
}

// storeNewerPod stores a newer object from the API.
func (w *worker) storeNewerPod(api *corev1.Pod) {
	w.latest.Store(api)
	w.pod.Update(api)
	if api.DeletionTimestamp == nil {
		return
	}
	w.deleting = true
	grace := time.Duration(0)
	if api.DeletionGracePeriodSeconds != nil {
		grace = time.Duration(*api.DeletionGracePeriodSeconds) * time.Second
	}
	w.pod.StopAll(lifecycle.Stop{By: time.Now().Add(grace)})
}

// endDeletedPod ends the pod because its object was deleted from the API.
func (w *worker) endDeletedPod() {
	w.gone = true
	w.pod.StopAll(lifecycle.Stop{By: time.Now()})
}

// endForNodeExit ends the pod's processes because the node's process is ending. The API is updated only after the next
// start.
func (w *worker) endForNodeExit(grace time.Duration) {
	w.leaving = true
	w.pod.StopAll(lifecycle.Stop{By: time.Now().Add(grace)})
}

// releaseResources releases the pod's resources, except its logs.
func (w *worker) releaseResources() {
	w.mu.Lock()
	podEnv := w.podEnv
	w.podEnv = nil
	w.mu.Unlock()
	if podEnv != nil {
		podEnv.releaseAll()
	}
	for _, name := range []string{"volumes", "containers", "etc"} {
		sandbox.RemoveTree(filepath.Join(w.dir, name))
	}
	if memory := w.memoryDir(); memory != "" {
		sandbox.RemoveTree(memory)
	}
}

func (w *worker) memoryDir() string {
	if w.node.machine.memory == "" {
		return ""
	}
	return filepath.Join(w.node.machine.memory, string(w.uid))
}
