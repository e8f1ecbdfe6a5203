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

// table holds the record of every bound pod that can still change, and finds the next step that is due. It is the
// store of the pod watch, so that no other data of a pod is kept.
//
// Invariant: a record is in the due heap if and only if its node is served, no writer is working on it, and it has a
// next step.
type table struct {
	startDelay time.Duration
	now        func() time.Time
	report     func(types.NamespacedName, types.UID, []problem) // reports invalid annotations, once per pod

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
	problems []problem // problems that have not been reported yet
}

func newTable(startDelay time.Duration, now func() time.Time, report func(types.NamespacedName, types.UID, []problem)) *table {
	return &table{
		startDelay: startDelay, now: now, report: report,
		pods: map[types.NamespacedName]*entry{}, served: map[string]string{}, wake: make(chan struct{}, 1),
	}
}

// Add, Update, Delete, Replace and Resync make the table a cache.ReflectorStore.

// Add adds a new pod.
func (t *table) Add(obj any) error { return t.Update(obj) }

// Update stores the current state of a pod.
func (t *table) Update(obj any) error {
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
func (t *table) Delete(obj any) error {
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
func (t *table) Replace(list []any, _ string) error {
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
func (t *table) Resync() error { return nil }

// storePod stores a pod. For a known pod, it only records whether the pod is being deleted or was ended by another
// component, because the rest of the status was written by the fleet itself.
func (t *table) storePod(pod *corev1.Pod) {
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
			e.problems = problems
		}
	} else {
		e.observeDeletion(pod, t.now())
		if p := pod.Status.Phase; p == corev1.PodSucceeded || p == corev1.PodFailed {
			e.stage = ended
		}
	}
	t.scheduleEntry(e)
}

func (t *table) dropStoredPod(name types.NamespacedName) {
	if e := t.pods[name]; e != nil {
		t.unscheduleEntry(e)
		delete(t.pods, name)
	}
}

// scheduleEntry adds the entry to the heap or removes it, as the invariant requires.
func (t *table) scheduleEntry(e *entry) {
	what, at := e.nextStepAndTime()
	_, served := t.served[e.node]
	if served && len(e.problems) > 0 {
		t.report(e.name, e.uid, e.problems)
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

func (t *table) unscheduleEntry(e *entry) {
	if e.index >= 0 {
		heap.Remove(&t.due, e.index)
	}
}

// retryAfter returns the pause before a write is retried.
func retryAfter(tries int) time.Duration {
	return min(time.Duration(1<<min(tries, 6))*50*time.Millisecond, 3*time.Second)
}

// takeDueEntry returns the next entry that is due and marks it as busy. If no entry is due, it returns the time until
// the next one; the time is negative if the heap is empty.
func (t *table) takeDueEntry() (*entry, time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.due) == 0 {
		return nil, -1
	}
	head := t.due[0]
	if wait := head.at.Sub(t.now()); wait > 0 {
		return nil, wait
	}
	heap.Pop(&t.due)
	head.busy = true
	return head, 0
}

// beginDueStep determines the step for a busy entry. It returns the record after the step and the address of the
// entry's node.
func (t *table) beginDueStep(e *entry) (what step, after record, hostIP string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	what, at := e.nextStepAndTime()
	if what == stepNone || at.After(now) { // the entry was changed while it waited for a writer
		return stepNone, record{}, ""
	}
	after = e.record.recordAfterStep(what, now)
	if after.podIP == "" && after.stage == running {
		after.podIP = t.nextAddress()
		// If the write is repeated, it must contain the same address, because the first write may have succeeded, and a
		// pod has only one address.
		e.record.podIP = after.podIP
	}
	return what, after, t.served[e.node]
}

// finishStep returns a busy entry to the table. A deletion that was observed in the meantime is kept.
func (t *table) finishStep(e *entry, after record, result outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e.busy = false
	if t.pods[e.name] != e {
		return // the pod was deleted, or re-created with the same name
	}
	switch result {
	case gone:
		t.dropStoredPod(e.name)
		return
	case failed:
		e.tries++
	case written:
		after.deletedAt, after.killAt = e.deletedAt, e.killAt
		if e.stage != ended || after.stage == ended {
			e.record = after
		}
		e.tries = 0
	}
	t.scheduleEntry(e)
}

// podRange is the address range for simulated pods.
var podRange = netip.MustParsePrefix("100.64.0.0/10")

// nextAddress returns an unused pod address from the range 100.64.0.0/10, which is reserved for carrier-grade NAT.
func (t *table) nextAddress() string {
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

// serveNodePods starts serving the pods of a node, or updates the node's address.
func (t *table) serveNodePods(node, address string) {
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

// stopServing stops serving the pods of a node.
func (t *table) stopServing(node string) {
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
