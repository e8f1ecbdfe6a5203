package v1alpha1

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/vc-batch/vc/api/keys"
)

// maxComparedTasks is the largest number of tasks that SeparateNodes compares with each other, in order to limit its cost.
const maxComparedTasks = 64

// SeparateNodes returns the number of nodes that the pods of a job need because they exclude each other from nodes: by
// required anti-affinity whose topology is the host name, as for sbatch -N, or by host ports. All other pods may share a
// node, so the job may use more nodes, but it cannot use fewer. For an array, it is the number of nodes of one element.
// The job's defaults are set.
func SeparateNodes(job *Job) int64 {
	var sets []*podSet
	for i := range job.Spec.Tasks {
		if job.Spec.Tasks[i].Replicas > 0 {
			sets = append(sets, newPodSet(job, &job.Spec.Tasks[i]))
		}
	}
	slices.SortStableFunc(sets, func(a, b *podSet) int { return cmp.Compare(b.nodes, a.nodes) })
	var apart []*podSet // tasks whose pods all exclude each other
	var nodes int64
	for _, set := range sets[:min(len(sets), maxComparedTasks)] {
		sharesNode := slices.ContainsFunc(apart, func(other *podSet) bool { return !set.excludes(other) })
		if !sharesNode {
			apart = append(apart, set)
			nodes += set.nodes
		}
	}
	return nodes
}

// podSet holds the properties of a task's pods that determine whether they can share a node with others.
type podSet struct {
	namespace string
	labels    labels.Set
	terms     []exclusion
	ports     []corev1.ContainerPort
	// nodes is the number of nodes that these pods need.
	nodes int64
}

func newPodSet(job *Job, task *TaskSpec) *podSet {
	spec := &task.Template.Spec
	set := &podSet{namespace: job.Namespace, labels: labels.Set{}, ports: hostPorts(spec), nodes: 1}
	maps.Copy(set.labels, task.Template.Labels)
	maps.Copy(set.labels, map[string]string{keys.JobName: job.Name, keys.TaskSpec: task.Name, keys.JobNamespace: job.Namespace, keys.QueueName: job.Spec.Queue})
	if spec.Affinity != nil && spec.Affinity.PodAntiAffinity != nil {
		for i := range spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			if term, ok := newExclusion(&spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]); ok {
				set.terms = append(set.terms, term)
			}
		}
	}
	element := int64(1)
	if task.PartitionPolicy != nil {
		element = int64(task.PartitionPolicy.PartitionSize)
	}
	isArray := job.Annotations[keys.Array] != ""
	switch within := set.nodeSharing(); {
	case within == sharedNode:
	case isArray, within == onePodOfPartition:
		set.nodes = min(element, int64(task.Replicas))
	default:
		set.nodes = int64(task.Replicas)
	}
	return set
}

// sharing describes which pods of a task can share a node.
type sharing uint8

const (
	sharedNode        sharing = iota // all of them
	onePodOfPartition                // only pods of different partitions
	onePod                           // none
)

// nodeSharing returns which pods of the task can share a node.
func (s *podSet) nodeSharing() sharing {
	if len(s.ports) > 0 {
		return onePod
	}
	within := sharedNode
	for i := range s.terms {
		term := &s.terms[i]
		switch {
		case !term.matches(s, s):
		case !term.samePartition:
			return onePod
		default:
			within = onePodOfPartition
		}
	}
	return within
}

// excludes reports whether no pod of one task can share a node with a pod of the other task.
func (s *podSet) excludes(other *podSet) bool {
	return s.rejects(other) || other.rejects(s) || portsConflict(s.ports, other.ports)
}

// rejects reports whether the anti-affinity of s excludes the pods of another task.
func (s *podSet) rejects(other *podSet) bool {
	return slices.ContainsFunc(s.terms, func(term exclusion) bool { return !term.samePartition && term.matches(s, other) })
}

// exclusion is a term of required anti-affinity between pods on the same node.
type exclusion struct {
	*corev1.PodAffinityTerm
	selector labels.Selector
	// samePartition is true if the term concerns only pods of the same partition of a task.
	samePartition bool
}

// perPodLabels are labels whose values differ between the pods of a task, or are not known at admission.
var perPodLabels = []string{keys.TaskIndex, keys.PartitionID, keys.ArrayIndex, keys.JobID}

// newExclusion returns the exclusion that a term describes. ok is false if the term does not concern pods on the same
// node, or if the labels that are known at admission do not determine which pods it concerns.
func newExclusion(term *corev1.PodAffinityTerm) (e exclusion, ok bool) {
	if term.TopologyKey != corev1.LabelHostname || len(term.MismatchLabelKeys) > 0 {
		return e, false
	}
	selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
	if err != nil {
		return e, false
	}
	if requirements, _ := selector.Requirements(); slices.ContainsFunc(requirements, usesPerPodLabel) {
		return e, false
	}
	if slices.Contains(term.MatchLabelKeys, keys.TaskIndex) || slices.Contains(term.MatchLabelKeys, keys.ArrayIndex) {
		return e, false
	}
	return exclusion{PodAffinityTerm: term, selector: selector, samePartition: slices.Contains(term.MatchLabelKeys, keys.PartitionID)}, true
}

func usesPerPodLabel(r labels.Requirement) bool { return slices.Contains(perPodLabels, r.Key()) }

// matches reports whether the term, which the pods of a task have, concerns the pods of another task.
func (e *exclusion) matches(of, other *podSet) bool {
	if !e.coversNamespace(of.namespace) || !e.selector.Matches(other.labels) {
		return false
	}
	return !slices.ContainsFunc(e.MatchLabelKeys, func(key string) bool {
		value, isSet := of.labels[key]
		return isSet && value != other.labels[key]
	})
}

// coversNamespace reports whether the term concerns pods in the job's namespace. It returns false if this depends on the
// labels of the namespace.
func (e *exclusion) coversNamespace(namespace string) bool {
	namesNone := len(e.Namespaces) == 0 && e.NamespaceSelector == nil
	if namesNone || slices.Contains(e.Namespaces, namespace) {
		return true
	}
	s := e.NamespaceSelector
	return s != nil && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// hostPorts returns the ports that the containers of a pod open on the node.
func hostPorts(pod *corev1.PodSpec) []corev1.ContainerPort {
	var ports []corev1.ContainerPort
	for i := range pod.Containers {
		for _, port := range pod.Containers[i].Ports {
			if pod.HostNetwork && port.HostPort == 0 {
				port.HostPort = port.ContainerPort // Kubernetes' default
			}
			if port.HostPort > 0 {
				port.Protocol = cmp.Or(port.Protocol, corev1.ProtocolTCP)
				ports = append(ports, port)
			}
		}
	}
	return ports
}

// portsConflict reports whether two pods with these ports cannot run on the same node.
func portsConflict(a, b []corev1.ContainerPort) bool {
	return slices.ContainsFunc(a, func(x corev1.ContainerPort) bool {
		return slices.ContainsFunc(b, func(y corev1.ContainerPort) bool {
			return x.HostPort == y.HostPort && x.Protocol == y.Protocol && sameAddress(x.HostIP, y.HostIP)
		})
	})
}

// sameAddress reports whether two host addresses of ports overlap. A port without an address uses all addresses.
func sameAddress(a, b string) bool {
	isAny := func(address string) bool { return address == "" || address == "0.0.0.0" || address == "::" }
	return isAny(a) || isAny(b) || a == b
}
