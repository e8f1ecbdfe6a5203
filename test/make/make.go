// Package make builds API objects for tests, in one line each:
//
//	make.Node("a").CPU("4").Memory("8Gi").Obj()
//	make.Pod("train-0").Gang("train").CPU("1").Obj()
//	make.Gang("train").Min(4).Queue("research").Obj()
//	make.Queue("research").Weight(3).Obj()
//
// The UID of an object is derived from its kind and name. Its creation time is Epoch, or later if Age is called.
package make //nolint:predeclared // a name like make.Pod reads well in tests

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Epoch is the default creation time.
var Epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Namespace is the default namespace.
const Namespace = "default"

// NodeBuilder builds a node.
type NodeBuilder struct{ node corev1.Node }

// Node starts a node with room for 110 pods and no other resources.
func Node(name string) *NodeBuilder {
	b := &NodeBuilder{}
	b.node.Name = name
	b.node.UID = types.UID("node-" + name)
	b.node.Labels = map[string]string{corev1.LabelHostname: name}
	b.node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
	return b
}

// CPU sets the amount of CPU.
func (b *NodeBuilder) CPU(q string) *NodeBuilder { return b.Resource("cpu", q) }

// Memory sets the amount of memory.
func (b *NodeBuilder) Memory(q string) *NodeBuilder { return b.Resource("memory", q) }

// GPU sets the number of nvidia.com/gpu.
func (b *NodeBuilder) GPU(n int) *NodeBuilder {
	return b.Resource("nvidia.com/gpu", fmt.Sprint(n))
}

// Resource sets the amount of a resource.
func (b *NodeBuilder) Resource(name, q string) *NodeBuilder {
	b.node.Status.Allocatable[corev1.ResourceName(name)] = resource.MustParse(q)
	return b
}

// Label sets a label.
func (b *NodeBuilder) Label(key, value string) *NodeBuilder {
	b.node.Labels[key] = value
	return b
}

// Taint adds a taint.
func (b *NodeBuilder) Taint(key, value string, effect corev1.TaintEffect) *NodeBuilder {
	b.node.Spec.Taints = append(b.node.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: effect})
	return b
}

// Cordon makes the node unschedulable.
func (b *NodeBuilder) Cordon() *NodeBuilder {
	b.node.Spec.Unschedulable = true
	return b
}

// Annotation sets an annotation.
func (b *NodeBuilder) Annotation(key, value string) *NodeBuilder {
	if b.node.Annotations == nil {
		b.node.Annotations = map[string]string{}
	}
	b.node.Annotations[key] = value
	return b
}

// Obj returns the node.
func (b *NodeBuilder) Obj() *corev1.Node { return &b.node }

// PodBuilder builds a pod.
type PodBuilder struct{ pod corev1.Pod }

// Pod starts a pending pod of our scheduler with one container.
func Pod(name string) *PodBuilder {
	b := &PodBuilder{}
	b.pod.Name, b.pod.Namespace = name, Namespace
	b.pod.UID = types.UID("pod-" + name)
	b.pod.CreationTimestamp = metav1.NewTime(Epoch)
	b.pod.Annotations, b.pod.Labels = map[string]string{}, map[string]string{}
	b.pod.Spec.SchedulerName = keys.DefaultSchedulerName
	b.pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}}}
	b.pod.Status.Phase = corev1.PodPending
	return b
}

// Namespace sets the namespace.
func (b *PodBuilder) Namespace(ns string) *PodBuilder {
	b.pod.Namespace = ns
	b.pod.UID = types.UID("pod-" + ns + "-" + b.pod.Name)
	return b
}

// Gang sets the PodGroup of the pod.
func (b *PodBuilder) Gang(name string) *PodBuilder {
	b.pod.Annotations[keys.GroupName] = name
	return b
}

// Role sets the task of the pod.
func (b *PodBuilder) Role(role string) *PodBuilder {
	b.pod.Annotations[keys.TaskSpec] = role
	return b
}

// CPU sets the CPU request.
func (b *PodBuilder) CPU(q string) *PodBuilder { return b.Resource("cpu", q) }

// Memory sets the memory request.
func (b *PodBuilder) Memory(q string) *PodBuilder { return b.Resource("memory", q) }

// GPU sets the request for nvidia.com/gpu.
func (b *PodBuilder) GPU(n int) *PodBuilder {
	return b.Resource("nvidia.com/gpu", fmt.Sprint(n))
}

// Resource sets the request for a resource.
func (b *PodBuilder) Resource(name, q string) *PodBuilder {
	b.pod.Spec.Containers[0].Resources.Requests[corev1.ResourceName(name)] = resource.MustParse(q)
	return b
}

// Label sets a label.
func (b *PodBuilder) Label(key, value string) *PodBuilder {
	b.pod.Labels[key] = value
	return b
}

// Annotation sets an annotation.
func (b *PodBuilder) Annotation(key, value string) *PodBuilder {
	b.pod.Annotations[key] = value
	return b
}

// Select adds a label to the node selector.
func (b *PodBuilder) Select(key, value string) *PodBuilder {
	if b.pod.Spec.NodeSelector == nil {
		b.pod.Spec.NodeSelector = map[string]string{}
	}
	b.pod.Spec.NodeSelector[key] = value
	return b
}

// Tolerate adds a toleration for a key with any value.
func (b *PodBuilder) Tolerate(key string) *PodBuilder {
	b.pod.Spec.Tolerations = append(b.pod.Spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	return b
}

// HostPort adds a host port.
func (b *PodBuilder) HostPort(port int32) *PodBuilder {
	c := &b.pod.Spec.Containers[0]
	c.Ports = append(c.Ports, corev1.ContainerPort{HostPort: port, ContainerPort: port, Protocol: corev1.ProtocolTCP})
	return b
}

// Priority sets the pod's priority.
func (b *PodBuilder) Priority(n int32) *PodBuilder {
	b.pod.Spec.Priority = &n
	return b
}

// Affinity sets the affinity.
func (b *PodBuilder) Affinity(a *corev1.Affinity) *PodBuilder {
	b.pod.Spec.Affinity = a
	return b
}

// Spread adds a topology spread constraint over a node label, on the pod's own labels.
func (b *PodBuilder) Spread(key string, skew int32) *PodBuilder {
	b.pod.Spec.TopologySpreadConstraints = append(b.pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
		MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: b.pod.Labels},
	})
	return b
}

// Gate adds a scheduling gate.
func (b *PodBuilder) Gate(name string) *PodBuilder {
	b.pod.Spec.SchedulingGates = append(b.pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
	return b
}

// On binds the pod to a node.
func (b *PodBuilder) On(node string) *PodBuilder {
	b.pod.Spec.NodeName = node
	return b
}

// Phase sets the phase.
func (b *PodBuilder) Phase(p corev1.PodPhase) *PodBuilder {
	b.pod.Status.Phase = p
	return b
}

// Age sets the creation time to a duration after Epoch.
func (b *PodBuilder) Age(d time.Duration) *PodBuilder {
	b.pod.CreationTimestamp = metav1.NewTime(Epoch.Add(d))
	return b
}

// Obj returns the pod.
func (b *PodBuilder) Obj() *corev1.Pod { return &b.pod }

// GangBuilder builds a PodGroup.
type GangBuilder struct{ pg schedulingv1beta1.PodGroup }

// Gang starts a PodGroup of queue default with a minimum of 1.
func Gang(name string) *GangBuilder {
	b := &GangBuilder{}
	b.pg.Name, b.pg.Namespace = name, Namespace
	b.pg.UID = types.UID("gang-" + name)
	b.pg.CreationTimestamp = metav1.NewTime(Epoch)
	b.pg.Spec.MinMember = 1
	b.pg.Spec.Queue = keys.DefaultQueue
	return b
}

// Namespace sets the namespace.
func (b *GangBuilder) Namespace(ns string) *GangBuilder {
	b.pg.Namespace = ns
	return b
}

// Min sets minMember.
func (b *GangBuilder) Min(n int) *GangBuilder {
	b.pg.Spec.MinMember = int32(n)
	return b
}

// MinTask sets the minimum of one task.
func (b *GangBuilder) MinTask(role string, n int) *GangBuilder {
	if b.pg.Spec.MinTaskMember == nil {
		b.pg.Spec.MinTaskMember = map[string]int32{}
	}
	b.pg.Spec.MinTaskMember[role] = int32(n)
	return b
}

// Queue sets the queue.
func (b *GangBuilder) Queue(name string) *GangBuilder {
	b.pg.Spec.Queue = name
	return b
}

// MinResource adds to minResources.
func (b *GangBuilder) MinResource(name, q string) *GangBuilder {
	if b.pg.Spec.MinResources == nil {
		b.pg.Spec.MinResources = &corev1.ResourceList{}
	}
	(*b.pg.Spec.MinResources)[corev1.ResourceName(name)] = resource.MustParse(q)
	return b
}

// PriorityClass sets the priority class.
func (b *GangBuilder) PriorityClass(name string) *GangBuilder {
	b.pg.Spec.PriorityClassName = name
	return b
}

// Phase sets the phase.
func (b *GangBuilder) Phase(p schedulingv1beta1.PodGroupPhase) *GangBuilder {
	b.pg.Status.Phase = p
	return b
}

// Age sets the creation time to a duration after Epoch.
func (b *GangBuilder) Age(d time.Duration) *GangBuilder {
	b.pg.CreationTimestamp = metav1.NewTime(Epoch.Add(d))
	return b
}

// Annotation sets an annotation.
func (b *GangBuilder) Annotation(key, value string) *GangBuilder {
	if b.pg.Annotations == nil {
		b.pg.Annotations = map[string]string{}
	}
	b.pg.Annotations[key] = value
	return b
}

// Label sets a label.
func (b *GangBuilder) Label(key, value string) *GangBuilder {
	if b.pg.Labels == nil {
		b.pg.Labels = map[string]string{}
	}
	b.pg.Labels[key] = value
	return b
}

// Topology sets networkTopology.
func (b *GangBuilder) Topology(t *schedulingv1beta1.NetworkTopologySpec) *GangBuilder {
	b.pg.Spec.NetworkTopology = t
	return b
}

// SubGroups adds a subGroupPolicy.
func (b *GangBuilder) SubGroups(p schedulingv1beta1.SubGroupPolicySpec) *GangBuilder {
	b.pg.Spec.SubGroupPolicy = append(b.pg.Spec.SubGroupPolicy, p)
	return b
}

// Obj returns the PodGroup.
func (b *GangBuilder) Obj() *schedulingv1beta1.PodGroup { return &b.pg }

// QueueBuilder builds a queue.
type QueueBuilder struct{ q schedulingv1beta1.Queue }

// Queue starts an open queue with weight 1.
func Queue(name string) *QueueBuilder {
	b := &QueueBuilder{}
	b.q.Name = name
	b.q.UID = types.UID("queue-" + name)
	b.q.CreationTimestamp = metav1.NewTime(Epoch)
	b.q.Spec.Weight = 1
	b.q.Status.State = schedulingv1beta1.QueueStateOpen
	return b
}

// Weight sets the weight.
func (b *QueueBuilder) Weight(n int32) *QueueBuilder {
	b.q.Spec.Weight = n
	return b
}

// Capability limits a resource.
func (b *QueueBuilder) Capability(name, q string) *QueueBuilder {
	if b.q.Spec.Capability == nil {
		b.q.Spec.Capability = corev1.ResourceList{}
	}
	b.q.Spec.Capability[corev1.ResourceName(name)] = resource.MustParse(q)
	return b
}

// Guarantee sets the guaranteed amount of a resource.
func (b *QueueBuilder) Guarantee(name, q string) *QueueBuilder {
	if b.q.Spec.Guarantee.Resource == nil {
		b.q.Spec.Guarantee.Resource = corev1.ResourceList{}
	}
	b.q.Spec.Guarantee.Resource[corev1.ResourceName(name)] = resource.MustParse(q)
	return b
}

// Reclaimable sets whether other queues may reclaim resources of the queue.
func (b *QueueBuilder) Reclaimable(yes bool) *QueueBuilder {
	b.q.Spec.Reclaimable = &yes
	return b
}

// Priority sets the priority.
func (b *QueueBuilder) Priority(n int32) *QueueBuilder {
	b.q.Spec.Priority = n
	return b
}

// Fifo gives the queue the strategy fifo.
func (b *QueueBuilder) Fifo() *QueueBuilder {
	b.q.Spec.DequeueStrategy = schedulingv1beta1.DequeueStrategyFIFO
	return b
}

// State sets its state.
func (b *QueueBuilder) State(s schedulingv1beta1.QueueState) *QueueBuilder {
	b.q.Status.State = s
	return b
}

// Annotation sets an annotation.
func (b *QueueBuilder) Annotation(key, value string) *QueueBuilder {
	if b.q.Annotations == nil {
		b.q.Annotations = map[string]string{}
	}
	b.q.Annotations[key] = value
	return b
}

// Deserved sets spec.deserved of a resource.
func (b *QueueBuilder) Deserved(name, q string) *QueueBuilder {
	if b.q.Spec.Deserved == nil {
		b.q.Spec.Deserved = corev1.ResourceList{}
	}
	b.q.Spec.Deserved[corev1.ResourceName(name)] = resource.MustParse(q)
	return b
}

// Parent sets spec.parent.
func (b *QueueBuilder) Parent(name string) *QueueBuilder {
	b.q.Spec.Parent = name
	return b
}

// Obj returns the queue.
func (b *QueueBuilder) Obj() *schedulingv1beta1.Queue { return &b.q }

// AccountBuilder builds an account.
type AccountBuilder struct{ a accountv1alpha1.Account }

// Account starts an account without users and limits.
func Account(name string) *AccountBuilder {
	b := &AccountBuilder{}
	b.a.Name = name
	b.a.UID = types.UID("account-" + name)
	b.a.CreationTimestamp = metav1.NewTime(Epoch)
	return b
}

// Parent sets the parent account.
func (b *AccountBuilder) Parent(name string) *AccountBuilder {
	b.a.Spec.Parent = name
	return b
}

// Shares sets the shares among the siblings.
func (b *AccountBuilder) Shares(n int32) *AccountBuilder {
	b.a.Spec.Shares = &n
	return b
}

// Users adds users.
func (b *AccountBuilder) Users(names ...string) *AccountBuilder {
	for _, name := range names {
		b.user(name)
	}
	return b
}

// UserShares sets the shares of a user, which it adds if necessary.
func (b *AccountBuilder) UserShares(name string, n int32) *AccountBuilder {
	b.user(name).Shares = &n
	return b
}

// MaxRunningJobs limits the number of running jobs of the account.
func (b *AccountBuilder) MaxRunningJobs(n int32) *AccountBuilder {
	b.limits().MaxRunningJobs = &n
	return b
}

// MaxResource limits the amount of a resource that jobs of the account request together.
func (b *AccountBuilder) MaxResource(name, q string) *AccountBuilder {
	limits := b.limits()
	setAmount(&limits.MaxResources, name, q)
	return b
}

// Budget sets the budget of a resource, in minutes.
func (b *AccountBuilder) Budget(name, minutes string) *AccountBuilder {
	setAmount(&b.budget().ResourceMinutes, name, minutes)
	return b
}

// BudgetPeriod sets the period of the budget.
func (b *AccountBuilder) BudgetPeriod(period accountv1alpha1.BudgetPeriod) *AccountBuilder {
	b.budget().Period = period
	return b
}

// BudgetSince sets the time from which usage counts.
func (b *AccountBuilder) BudgetSince(at time.Time) *AccountBuilder {
	b.budget().Since = &metav1.Time{Time: at}
	return b
}

func (b *AccountBuilder) budget() *accountv1alpha1.Budget {
	limits := b.limits()
	if limits.Budget == nil {
		limits.Budget = &accountv1alpha1.Budget{}
	}
	return limits.Budget
}

// UserMaxRunningJobs limits the number of running jobs of a user, or of each user if name is "".
func (b *AccountBuilder) UserMaxRunningJobs(user string, n int32) *AccountBuilder {
	b.userLimits(user).MaxRunningJobs = &n
	return b
}

// UserMaxResource limits the amount of a resource that jobs of a user request together, or of each user if user is "".
func (b *AccountBuilder) UserMaxResource(user, name, q string) *AccountBuilder {
	setAmount(&b.userLimits(user).MaxResources, name, q)
	return b
}

// Obj returns the account.
func (b *AccountBuilder) Obj() *accountv1alpha1.Account { return &b.a }

func (b *AccountBuilder) limits() *accountv1alpha1.AccountLimits {
	if b.a.Spec.Limits == nil {
		b.a.Spec.Limits = &accountv1alpha1.AccountLimits{}
	}
	return b.a.Spec.Limits
}

func (b *AccountBuilder) userLimits(user string) *accountv1alpha1.UserLimits {
	limits := &b.a.Spec.UserLimits
	if user != "" {
		limits = &b.user(user).Limits
	}
	if *limits == nil {
		*limits = &accountv1alpha1.UserLimits{}
	}
	return *limits
}

func (b *AccountBuilder) user(name string) *accountv1alpha1.AccountUser {
	for i := range b.a.Spec.Users {
		if b.a.Spec.Users[i].Name == name {
			return &b.a.Spec.Users[i]
		}
	}
	b.a.Spec.Users = append(b.a.Spec.Users, accountv1alpha1.AccountUser{Name: name})
	return &b.a.Spec.Users[len(b.a.Spec.Users)-1]
}

func setAmount(list *corev1.ResourceList, name, q string) {
	if *list == nil {
		*list = corev1.ResourceList{}
	}
	(*list)[corev1.ResourceName(name)] = resource.MustParse(q)
}
