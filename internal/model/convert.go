package model

import (
	"encoding/json"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/quota"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/podtermination"
)

// NodeFrom converts a node.
func NodeFrom(node *corev1.Node) NodeSet {
	set := NodeSet{
		Name:          node.Name,
		Labels:        node.Labels,
		Taints:        node.Spec.Taints,
		Unschedulable: node.Spec.Unschedulable,
		Annotations:   policyAnnotations(node.Annotations),
		Allocatable:   resource.AmountsFrom(node.Status.Allocatable, resource.RoundDown),
		Devices:       resource.SharedDevices(node.Status.Capacity, resource.RoundDown),
	}
	if len(node.Status.Images) > 0 {
		set.Images = make(map[string]int64, len(node.Status.Images))
		for _, image := range node.Status.Images {
			for _, name := range image.Names {
				set.Images[podshape.NormalizeImage(name)] = image.SizeBytes
			}
		}
	}
	return set
}

// TaskFrom converts a pod. ours is true if the pod names one of this process's schedulers.
func TaskFrom(pod *corev1.Pod, ours bool) TaskSet {
	set := TaskSet{
		UID:         pod.UID,
		Namespace:   pod.Namespace,
		Name:        pod.Name,
		Created:     pod.CreationTimestamp.Time,
		Labels:      pod.Labels,
		Ours:        ours,
		Group:       keys.PodGroupOf(pod.Annotations),
		Queue:       annotationOrLabel(pod, keys.QueueName),
		NamedQueue:  pod.Annotations[keys.PodQueueName],
		Node:        pod.Spec.NodeName,
		Status:      statusFrom(pod),
		Role:        annotationOrLabel(pod, keys.TaskSpec),
		Index:       -1,
		Priority:    priorityFrom(pod),
		Gated:       len(pod.Spec.SchedulingGates) > 0,
		Gates:       gateNames(pod.Spec.SchedulingGates),
		QueueGated:  hasOnlyQueueGate(pod.Spec.SchedulingGates),
		Preemptable: IsPreemptionAllowed(annotationOrLabel(pod, keys.Preemptable)),
		Critical: pod.Namespace == metav1.NamespaceSystem ||
			pod.Spec.PriorityClassName == "system-cluster-critical" || pod.Spec.PriorityClassName == "system-node-critical",
		Never:       pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy == corev1.PreemptNever,
		Shape:       podshape.SpecFrom(pod),
		Annotations: policyAnnotations(pod.Annotations),
	}
	set.Index = podIndexFrom(pod)
	set.Nominated = pod.Status.NominatedNodeName
	set.Killed = podtermination.WasDeletedBeforeEnd(pod)
	if pod.DeletionTimestamp != nil { // includes the grace period
		set.LeavesBy = pod.DeletionTimestamp.Time
	}
	set.Expected = runTimeFrom(pod)
	set.PriorityClass = pod.Spec.PriorityClassName
	if pod.Status.StartTime != nil {
		set.Started = pod.Status.StartTime.Time
	}
	for i := range pod.Status.Conditions {
		switch cond := &pod.Status.Conditions[i]; {
		case cond.Type == corev1.PodScheduled && cond.Status == corev1.ConditionFalse:
			set.Condition = PodCondition{Reason: cond.Reason, Message: cond.Message}
		case cond.Type == corev1.PodScheduled && cond.Status == corev1.ConditionTrue:
			set.BoundAt = cond.LastTransitionTime.Time
		case cond.Type == corev1.PodReady:
			set.Ready = cond.Status == corev1.ConditionTrue
		}
	}
	return set
}

// routine lists annotations defined by this project that no policy reads. Most pods have them.
var routine = map[string]bool{
	keys.GroupName: true, keys.VolcanoGroupName: true, keys.JobName: true, keys.JobNamespace: true, keys.TaskSpec: true, keys.TaskIndex: true, keys.QueueName: true,
	keys.RunningEstimate: true, keys.JobVersion: true, keys.JobRetryCount: true, keys.TemplateUID: true, keys.JobType: true, keys.PodQueueName: true,
}

// policyAnnotations returns the annotations that policies may read, which are the annotations defined by Volcano,
// this project and device vendors. Other annotations are dropped, because they may be many and large.
func policyAnnotations(all map[string]string) map[string]string {
	var kept map[string]string
	for key, value := range all {
		prefix, _, _ := strings.Cut(key, "/")
		switch {
		case routine[key]:
		case strings.HasSuffix(prefix, "volcano.sh"), prefix == "vc-batch.dev", prefix == "nvidia.com", strings.HasPrefix(key, "sla-"):
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}

// annotationOrLabel returns an annotation or, if it is missing, the label with the same key.
func annotationOrLabel(of metav1.Object, key string) string {
	if v, ok := of.GetAnnotations()[key]; ok {
		return v
	}
	return of.GetLabels()[key]
}

func statusFrom(pod *corev1.Pod) Status {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded && !podtermination.WasDeletedBeforeEnd(pod):
		return Succeeded
	case podtermination.HasFinished(pod): // a killed pod has not completed its work, whatever its exit code
		return Failed
	case pod.DeletionTimestamp != nil:
		return Releasing
	case pod.Status.Phase == corev1.PodRunning:
		return Running
	case pod.Status.Phase == corev1.PodUnknown:
		return Unknown
	case pod.Spec.NodeName != "":
		return Bound
	}
	return Pending
}

// priorityFrom returns the value of the priority annotation, which overrides the pod's priority inside the scheduler.
// Without the annotation, it returns the pod's priority, or 1 if that is unset, as in Volcano.
func priorityFrom(pod *corev1.Pod) int32 {
	if v, err := strconv.ParseInt(pod.Annotations[keys.TaskPriority], 10, 32); err == nil {
		return int32(v)
	}
	if pod.Spec.Priority != nil {
		return *pod.Spec.Priority
	}
	return 1
}

// podIndexFrom returns the pod's number from the task-index annotation or label or, if both are missing, from the end
// of the pod's name. It returns -1 if there is no number.
func podIndexFrom(pod *corev1.Pod) int {
	text := annotationOrLabel(pod, keys.TaskIndex)
	if text == "" {
		text = pod.Name[strings.LastIndexByte(pod.Name, '-')+1:]
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 0 {
		return n
	}
	return -1
}

// GangFrom converts a PodGroup.
func GangFrom(pg *schedulingv1beta1.PodGroup) GangSet {
	set := GangSet{
		UID:             pg.UID,
		Namespace:       pg.Namespace,
		Name:            pg.Name,
		Created:         pg.CreationTimestamp.Time,
		ResourceVersion: pg.ResourceVersion,
		Queue:           pg.Spec.Queue,
		MinMember:       int(max(pg.Spec.MinMember, 0)),
		PriorityClass:   pg.Spec.PriorityClassName,
		User:            pg.Annotations[keys.User],
		Account:         pg.Labels[keys.Account],
		QOS:             pg.Labels[keys.QOS],
		Preemptable:     annotationOrLabel(pg, keys.Preemptable),
		Annotations:     pg.Annotations,
		Estimate:        durationFrom(pg.Annotations[keys.RunningEstimate]),
		TimeLimit:       durationFrom(pg.Annotations[keys.TimeLimit]),
		Status:          *pg.Status.DeepCopy(),
	}
	for i := range pg.OwnerReferences {
		if owner := &pg.OwnerReferences[i]; owner.Kind == "Job" && strings.HasPrefix(owner.APIVersion, "batch.volcano.sh/") {
			set.Job = owner.Name
		}
	}
	if len(pg.Spec.MinTaskMember) > 0 {
		set.MinTaskMember = make(map[string]int, len(pg.Spec.MinTaskMember))
		for role, n := range pg.Spec.MinTaskMember {
			set.MinTaskMember[role] = int(n)
		}
	}
	if pg.Spec.MinResources != nil {
		set.HasMinResources = true
		set.MinResources = resource.AmountsFrom(*pg.Spec.MinResources, resource.RoundUpSum)
		for _, a := range quota.Amounts(*pg.Spec.MinResources, resource.RoundUpSum) {
			if !schedulingv1beta1.IsNodeResource(a.Name) {
				set.QuotaResources = append(set.QuotaResources, a)
			}
		}
	}
	set.TaskRequests = taskRequestsFrom(pg.Annotations[keys.TaskRequests])
	set.TaskPlacements = taskPlacementsFrom(pg.Annotations[keys.TaskPlacements])
	set.Topology = topologyFrom(pg.Spec.NetworkTopology)
	for i := range pg.Spec.SubGroupPolicy {
		set.SubGroups = append(set.SubGroups, subGroupsFrom(&pg.Spec.SubGroupPolicy[i]))
	}
	return set
}

// taskRequestsFrom parses the request of one pod of each task. It returns nil if the text is empty or invalid.
func taskRequestsFrom(text string) map[string][]resource.Amount {
	if text == "" {
		return nil
	}
	var lists map[string]corev1.ResourceList
	if json.Unmarshal([]byte(text), &lists) != nil {
		return nil
	}
	out := make(map[string][]resource.Amount, len(lists))
	for task, list := range lists {
		out[task] = resource.AmountsFrom(list, resource.RoundUpSum)
	}
	return out
}

// QueueFrom converts a queue.
func QueueFrom(q *schedulingv1beta1.Queue) QueueSet {
	return QueueSet{
		Name:        q.Name,
		UID:         q.UID,
		Created:     q.CreationTimestamp.Time,
		Weight:      q.Spec.Weight,
		Priority:    q.Spec.Priority,
		Reclaimable: q.Spec.Reclaimable == nil || *q.Spec.Reclaimable,
		Open:        q.Status.State == "" || q.Status.State == schedulingv1beta1.QueueStateOpen,
		State:       string(q.Status.State),
		Parent:      q.Spec.Parent,
		Fifo:        q.Spec.DequeueStrategy == schedulingv1beta1.DequeueStrategyFIFO,
		Capability:  resource.AmountsFrom(q.Spec.Capability, resource.RoundDownSum),
		Guarantee:   resource.AmountsFrom(q.Spec.Guarantee.Resource, resource.RoundDownSum),
		Deserved:    resource.AmountsFrom(q.Spec.Deserved, resource.RoundDownSum),
		Annotations: policyAnnotations(q.Annotations),
		Affinity:    q.Spec.Affinity,
		Status:      q.Status,
	}
}

// PriorityClassFrom converts a PriorityClass.
func PriorityClassFrom(class *schedulingv1.PriorityClass) PriorityClassSet {
	return PriorityClassSet{Name: class.Name, Value: class.Value, GlobalDefault: class.GlobalDefault}
}
