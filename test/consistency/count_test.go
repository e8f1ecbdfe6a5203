package consistency

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/dashboard/demo"
	"github.com/vc-batch/vc/internal/render"
)

// nodeCount is what a node has and what its pods request, counted from the objects in the API alone. The values of a
// resource are milli-CPUs, bytes and GPUs.
type nodeCount struct {
	pods            int
	capacity, inUse [3]int64
	isReady         bool
}

// amounts returns the milli-CPUs, bytes and GPUs in a list.
func amounts(list corev1.ResourceList) [3]int64 {
	gpus := list[demo.GPU]
	return [3]int64{list.Cpu().MilliValue(), list.Memory().Value(), gpus.Value()}
}

func add(sum *[3]int64, more [3]int64) {
	for i := range sum {
		sum[i] += more[i]
	}
}

// hasEnded reports whether a pod has released its resources. A pod that is being deleted has not.
func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// requested returns the requests of a pod with one container.
func requested(pod *corev1.Pod) [3]int64 { return amounts(pod.Spec.Containers[0].Resources.Requests) }

// countNodes counts the pods and the requests on each node.
func (b *both) countNodes() map[string]*nodeCount {
	nodes := map[string]*nodeCount{}
	for _, object := range b.world {
		node, ok := object.(*corev1.Node)
		if !ok {
			continue
		}
		count := &nodeCount{capacity: amounts(node.Status.Allocatable), isReady: !node.Spec.Unschedulable}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
				count.isReady = false
			}
		}
		nodes[node.Name] = count
	}
	for _, object := range b.world {
		if pod, ok := object.(*corev1.Pod); ok && nodes[pod.Spec.NodeName] != nil && !hasEnded(pod) {
			nodes[pod.Spec.NodeName].pods++
			add(&nodes[pod.Spec.NodeName].inUse, requested(pod))
		}
	}
	return nodes
}

// countedNodesAgree compares `node list -o wide`, Nodes and Overview with a count of the objects.
func (b *both) countedNodesAgree() {
	b.t.Helper()
	listed, nodes, overview := rows(b.vcctl("node list -o wide")), b.screen("4"), b.screen("1")
	var capacity, idle [3]int64
	for name, count := range b.countNodes() {
		add(&capacity, count.capacity)
		free := count.capacity
		for i := range free {
			free[i] -= count.inUse[i]
		}
		if count.isReady {
			add(&idle, [3]int64{max(free[0], 0), max(free[1], 0), max(free[2], 0)})
		}
		if pods, _, _ := strings.Cut(listed[name]["PODS"], "/"); pods != fmt.Sprint(count.pods) {
			b.t.Errorf("%s: %d pods have not ended, node list shows %s", name, count.pods, pods)
		}
		want := fmt.Sprintf(" %d %d / %s / %s ", count.pods, free[2], render.FormatAmount(corev1.ResourceCPU, free[0]), render.FormatAmount(corev1.ResourceMemory, free[1]))
		if shown := " " + strings.Join(line(b.t, nodes, name), " ") + " "; !strings.Contains(shown, want) {
			b.t.Errorf("%s: the API has%s, Nodes shows%s", name, want, shown)
		}
	}
	b.sumsAgree(overview, capacity, idle)
}

// countedQueuesAgree compares `queue list -o json` and Queues with the requests of the pods of each queue and its
// descendants.
func (b *both) countedQueuesAgree(resource corev1.ResourceName) {
	b.t.Helper()
	queues, queueOfJob := map[string]*schedulingv1beta1.Queue{}, map[types.UID]string{}
	for _, object := range b.world {
		switch o := object.(type) {
		case *schedulingv1beta1.Queue:
			queues[o.Name] = o
		case *batchv1alpha1.Job:
			queueOfJob[o.UID] = o.Spec.Queue
		}
	}
	allocated := map[string]int64{}
	for _, object := range b.world {
		pod, ok := object.(*corev1.Pod)
		if !ok || pod.Spec.NodeName == "" || hasEnded(pod) {
			continue
		}
		amount := pod.Spec.Containers[0].Resources.Requests[resource]
		for q := queues[queueOfJob[pod.OwnerReferences[0].UID]]; q != nil; q = queues[q.Spec.Parent] {
			allocated[q.Name] += amount.MilliValue()
		}
	}
	b.choose(resource)
	screen := b.screen("3")
	titles := line(b.t, screen, "QUEUE")
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		if shown := cells(b.t, titles, line(b.t, screen, name), "ALLOC")["ALLOC"]; shown != amountOf(resource, allocated[name]) {
			b.t.Errorf("%s: pods request %s %s, Queues shows %s", name, amountOf(resource, allocated[name]), resource, shown)
		}
	}
}

// countedJobsAgree compares Jobs and Job with a count of the pods of each job.
func (b *both) countedJobsAgree() {
	b.t.Helper()
	type podCount struct{ running, pending, succeeded, failed int }
	counts := map[types.UID]*podCount{}
	for _, object := range b.world {
		pod, ok := object.(*corev1.Pod)
		if !ok {
			continue
		}
		uid := pod.OwnerReferences[0].UID
		if counts[uid] == nil {
			counts[uid] = &podCount{}
		}
		switch {
		case pod.Status.Phase == corev1.PodSucceeded:
			counts[uid].succeeded++
		case pod.Status.Phase == corev1.PodFailed:
			counts[uid].failed++
		case pod.DeletionTimestamp != nil:
		case pod.Status.Phase == corev1.PodRunning:
			counts[uid].running++
		default:
			counts[uid].pending++
		}
	}
	table := b.screen("2")
	for _, object := range b.world {
		job, ok := object.(*batchv1alpha1.Job)
		if !ok || counts[job.UID] == nil {
			continue // without pods, only the status knows the counts
		}
		id, _ := batchv1alpha1.JobID(job)
		c := counts[job.UID]
		want := fmt.Sprintf("%d/%d/%d/%d", c.running, c.pending, c.succeeded, c.failed)
		if words := line(b.t, table, fmt.Sprint(id)); !slices.Contains(words, want) {
			b.t.Errorf("job %d: the API has pods %s, Jobs shows %v", id, want, words)
		}
	}
}
