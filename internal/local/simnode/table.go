package simnode

import (
	"container/heap"
	"fmt"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// PodTable holds the record of every bound pod that can still change, and finds the next step that is due. It is the
// store of the pod watch, so that no other data of a pod is kept. It does no I/O, and is safe for concurrent use.
//
// Invariant: a record is in the due heap if and only if its node is served, no writer is working on it, and it has a
// next step.
type PodTable struct {
	startDelay time.Duration
	now        func() time.Time
	report     func(types.NamespacedName, types.UID, []string) // reports invalid annotations, once per pod

	mu     sync.Mutex
	pods   map[types.NamespacedName]*entry
	served map[string]string // node name → node address
	due    dueHeap
	wake   chan struct{} // holds a token if the head of the heap may have changed
	lastIP uint32        // number of allocated addresses
}

// entry is a record with its state in the table.
type entry struct {
	record
	at       time.Time // time of its next step
	index    int       // index in the heap; -1 if the entry is not in the heap
	busy     bool      // a writer is working on the entry
	tries    int       // number of failed writes for the current step
	problems []string  // descriptions of invalid annotations that have not been reported yet
}

// NewPodTable returns a table without pods and nodes. startDelay is the time from the binding of a pod to its start, or
// Never. now returns the current time. report is called with the invalid annotations of a pod; it may be nil.
func NewPodTable(startDelay time.Duration, now func() time.Time, report func(pod types.NamespacedName, uid types.UID, problems []string)) *PodTable {
	return &PodTable{
		startDelay: startDelay, now: now, report: report,
		pods: map[types.NamespacedName]*entry{}, served: map[string]string{}, wake: make(chan struct{}, 1),
	}
}

// Add, Update, Delete, Replace and Resync make the table a cache.ReflectorStore.

// Add adds a new pod.
func (t *PodTable) Add(obj any) error { return t.Update(obj) }

// Update stores the current state of a pod.
func (t *PodTable) Update(obj any) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("pod table: %T is not a pod", obj)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.storePod(pod)
	return nil
}

// Delete removes a pod.
func (t *PodTable) Delete(obj any) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("pod table: %T is not a pod", obj)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropStoredPod(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
	return nil
}

// Replace makes the table contain exactly the pods in list.
func (t *PodTable) Replace(list []any, _ string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	listed := make(map[types.NamespacedName]bool, len(list))
	for _, obj := range list {
		if pod, ok := obj.(*corev1.Pod); ok {
			listed[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}] = true
			t.storePod(pod)
		}
	}
	for name := range t.pods {
		if !listed[name] {
			t.dropStoredPod(name)
		}
	}
	return nil
}

// Resync does nothing, because the table retries failed writes itself.
func (t *PodTable) Resync() error { return nil }

// storePod stores a pod. For a known pod, it only records whether the pod is being deleted or was ended by another
// component, because the rest of the status was written by the fleet itself.
func (t *PodTable) storePod(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" {
		return
	}
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	e := t.pods[name]
	if e != nil && e.uid != pod.UID {
		t.dropStoredPod(name)
		e = nil
	}
	if e == nil {
		fresh, problems := newRecord(pod, t.startDelay, t.now())
		if fresh.stage == ended && fresh.deletedAt.IsZero() {
			return // the pod can only be deleted
		}
		e = &entry{record: fresh, index: -1}
		t.pods[name] = e
		t.lastIP = max(t.lastIP, addressNumber(fresh.podIP))
		if fresh.stage == waiting { // problems of pods in later stages were already reported
			for _, p := range problems {
				e.problems = append(e.problems, p.String())
			}
		}
	} else {
		e.observeDeletion(pod, t.now())
		if p := pod.Status.Phase; p == corev1.PodSucceeded || p == corev1.PodFailed {
			e.stage = ended
		}
	}
	t.scheduleEntry(e)
}

func (t *PodTable) dropStoredPod(name types.NamespacedName) {
	if e := t.pods[name]; e != nil {
		t.unscheduleEntry(e)
		delete(t.pods, name)
	}
}

// scheduleEntry adds the entry to the heap or removes it, as the invariant requires.
func (t *PodTable) scheduleEntry(e *entry) {
	what, at := e.nextStepAndTime()
	_, served := t.served[e.node]
	if served && len(e.problems) > 0 {
		if t.report != nil {
			t.report(e.name, e.uid, e.problems)
		}
		e.problems = nil
	}
	if what == stepNone && e.stage == ended {
		t.dropStoredPod(e.name)
		return
	}
	if what == stepNone || !served || e.busy {
		t.unscheduleEntry(e)
		return
	}
	if e.tries > 0 {
		at = t.now().Add(retryAfter(e.tries))
	}
	e.at = at
	if e.index < 0 {
		heap.Push(&t.due, e)
	} else {
		heap.Fix(&t.due, e.index)
	}
	if e.index == 0 {
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
}

func (t *PodTable) unscheduleEntry(e *entry) {
	if e.index >= 0 {
		heap.Remove(&t.due, e.index)
	}
}

// retryAfter returns the pause before a write is retried.
func retryAfter(tries int) time.Duration {
	return min(time.Duration(1<<min(tries, 6))*50*time.Millisecond, 3*time.Second)
}

// podRange is the address range for simulated pods.
var podRange = netip.MustParsePrefix("100.64.0.0/10")

// nextAddress returns an unused pod address from the range 100.64.0.0/10, which is reserved for carrier-grade NAT.
func (t *PodTable) nextAddress() string {
	t.lastIP++
	n := t.lastIP & (1<<22 - 1)
	return fmt.Sprintf("100.%d.%d.%d", 64+n>>16, n>>8&255, n&255)
}

// addressNumber returns the number of an allocated address; 0 for any other address.
func addressNumber(text string) uint32 {
	ip, err := netip.ParseAddr(text)
	if err != nil || !podRange.Contains(ip) {
		return 0
	}
	b := ip.As4()
	return uint32(b[1]-64)<<16 | uint32(b[2])<<8 | uint32(b[3])
}

// ServeNode starts serving the pods of a node, or updates the node's address.
func (t *PodTable) ServeNode(node, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old, known := t.served[node]
	t.served[node] = address
	if known && old == address {
		return
	}
	for _, e := range t.pods {
		if e.node == node {
			t.scheduleEntry(e)
		}
	}
}

// StopServing stops serving the pods of a node.
func (t *PodTable) StopServing(node string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.served, node)
	for _, e := range t.pods {
		if e.node == node {
			t.unscheduleEntry(e)
		}
	}
}

// dueHeap orders entries by the time of their next step and then by name, so that the order is deterministic.
type dueHeap []*entry

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	if !h[i].at.Equal(h[j].at) {
		return h[i].at.Before(h[j].at)
	}
	return h[i].name.String() < h[j].name.String()
}
func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *dueHeap) Push(x any) {
	e := x.(*entry)
	e.index = len(*h)
	*h = append(*h, e)
}
func (h *dueHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	last.index = -1
	return last
}
