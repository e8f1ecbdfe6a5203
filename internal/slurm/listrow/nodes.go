package listrow

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// headTask is the task whose pod runs the batch script.
const headTask = "head"

// recordedNodes returns the nodes of the row's pods that are stored in the job's status. It returns nil if the row has
// not ended, because the pods are not deleted before then.
func (r *Row) recordedNodes() map[batchv1alpha1.PodPlace]string {
	if !r.State.Code.HasEnded() || len(r.Job.Status.Nodes) == 0 {
		return nil
	}
	pods := batchv1alpha1.NodesOfPods(r.Job.Status.Nodes)
	_, size, _ := batchv1alpha1.ElementsOf(r.Job)
	if r.IsArray() && size > 0 {
		maps.DeleteFunc(pods, func(p batchv1alpha1.PodPlace, _ string) bool { return int(p.Index/size) != r.Position })
	}
	return pods
}

// podNameAt returns the name of the pod at a place.
func (r *Row) podNameAt(p batchv1alpha1.PodPlace) string {
	return fmt.Sprintf("%s-%s-%d", r.Job.Name, p.Task, p.Index)
}

// nodesByPod returns the nodes of the row's pods by pod name. It takes them from the existing pods and the job's
// status.
func (r *Row) nodesByPod() map[string]string {
	nodes := map[string]string{}
	for place, node := range r.recordedNodes() {
		nodes[r.podNameAt(place)] = node
	}
	for _, pod := range r.Mine {
		if pod.Spec.NodeName != "" {
			nodes[pod.Name] = pod.Spec.NodeName
		}
	}
	return nodes
}

// NodeNames returns the sorted names of the Kubernetes nodes on which the row's pods are running or were running.
func (r *Row) NodeNames() []string {
	kept := r.recordedNodes()
	switch {
	case len(kept) == 0 && r.Sum == nil:
		return nil
	case len(kept) == 0:
		return r.Sum.Nodes
	}
	nodes := slices.Sorted(maps.Values(kept))
	if r.Sum != nil {
		nodes = append(nodes, r.Sum.Nodes...)
		slices.Sort(nodes)
	}
	return slices.Compact(nodes)
}

// NodesForPods returns the nodes of the named pods. If the node of a pod is unknown, the result contains the pod's name
// instead.
func (r *Row) NodesForPods(pods []string) []string {
	nodes := r.nodesByPod()
	var of []string
	for _, pod := range pods {
		of = append(of, cmp.Or(nodes[pod], pod))
	}
	return of
}

// BatchHost returns the node that runs the batch script, or "" if the node is unknown or has not been assigned.
func (r *Row) BatchHost() string {
	if head := r.HeadPod(); head != nil && head.Spec.NodeName != "" {
		return head.Spec.NodeName
	}
	nodes := r.recordedNodes()
	if len(nodes) == 0 {
		return ""
	}
	first := slices.MinFunc(slices.Collect(maps.Keys(nodes)), func(a, b batchv1alpha1.PodPlace) int {
		return cmp.Or(compareHead(a.Task, b.Task), cmp.Compare(a.Index, b.Index))
	})
	return nodes[first]
}

// compareHead compares the names of tasks so that the task of the batch script comes first.
func compareHead(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == headTask:
		return -1
	case b == headTask:
		return 1
	}
	return cmp.Compare(a, b)
}

// HeadPod returns the pod that runs the batch script or, if none exists, the first pod of the row. It returns nil if
// the row has no pods.
func (r *Row) HeadPod() *corev1.Pod {
	for _, pod := range r.Mine {
		if pod.Labels[keys.TaskSpec] == headTask {
			return pod
		}
	}
	if len(r.Mine) > 0 {
		return r.Mine[0]
	}
	return nil
}
