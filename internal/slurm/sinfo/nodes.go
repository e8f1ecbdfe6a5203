// Package sinfo describes the cluster in Slurm's terms, with states for nodes and with queues as partitions. It
// implements the output of sinfo, and provides the data about nodes and partitions for scontrol.
//
//	In:   nodes, pods, queues, the site's profile
//	Out:  nodes, partitions, lines
package sinfo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
)

// Node is a Kubernetes node.
type Node struct {
	*corev1.Node
	// State is Slurm's short name for the state, including flags: idle, mix, alloc, drng, drain, maint, down*. While
	// the scheduler is reserving resources on the node for a pending job, an idle node has the state plnd, and a node
	// that is still running jobs has the state mix- or alloc-.
	State string
	// Has contains the node's allocatable amounts, and Used contains the amounts that pods request.
	Has, Used nodecapacity.Amounts
	// Reason is the reason why the node was drained. By is the user who drained it, and At is the time when this
	// happened. If the node has no such record, By and At are Unknown, and Reason is empty unless the node is cordoned
	// or not ready.
	Reason, By, At string
	// types maps resources to the site's names for the device types on the node.
	types map[string]string
}

// Unknown is the user who drained a node, and the time, if they were not recorded.
const Unknown = "Unknown"

// Partition is a queue that accepts jobs.
type Partition struct {
	Name string
	// Default is true for the partition of jobs that do not specify one.
	Default bool
	// Avail is up, drain, inact or down.
	Avail string
	// MaxTime is the maximum time limit, or "infinite". DefaultTime is the time limit for jobs that do not specify
	// one.
	MaxTime, DefaultTime string
	Limits               profile.Limits
	Nodes                []*Node
	Queue                *schedulingv1beta1.Queue
}

// states maps states to their long names.
var states = map[string]string{"idle": "idle", "mix": "mixed", "alloc": "allocated", "drng": "draining", "drain": "drained", "maint": "maint", "down*": "down*", "unk": "unknown",
	"plnd": "planned", "mix-": "mixed-", "alloc-": "allocated-"}

// planned maps the state of a node to the state that is shown if resources on the node are reserved for a pending job.
var planned = map[string]string{"idle": "plnd", "mix": "mix-", "alloc": "alloc-"}

// LongState returns the long name of the state.
func (n *Node) LongState() string { return states[n.State] }

// order lists the states in the order in which sinfo sorts them: unusable nodes first, then by usage.
var order = []string{"down*", "maint", "drain", "drng", "mix", "mix-", "alloc", "alloc-", "idle", "plnd", "unk"}

// CountCPUs returns the number of CPUs in use and the total number of CPUs.
func (n *Node) CountCPUs() (used, all int) {
	return int((n.Used.MilliCPU + 999) / 1000), int(n.Has.MilliCPU / 1000)
}

// GresText lists the node's devices with the site's names for their types, in the format of --gres: gpu:a100:8.
func (n *Node) GresText() string {
	var parts []string
	for name, count := range n.Has.Devices {
		if count == 0 {
			continue
		}
		part := listrow.GresName(string(name)) + ":"
		if kind := n.types[string(name)]; kind != "" {
			part += kind + ":"
		}
		parts = append(parts, part+strconv.FormatInt(count, 10))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// TRESText formats amounts as scontrol does: cpu=64,mem=256G,billing=64,gres/gpu=8. It omits resources with an amount
// of 0.
func TRESText(a nodecapacity.Amounts) string {
	var parts []string
	if cpus := (a.MilliCPU + 999) / 1000; cpus > 0 {
		parts = append(parts, "cpu="+strconv.FormatInt(cpus, 10))
	}
	if a.MemoryBytes > 0 {
		parts = append(parts, "mem="+listrow.FormatMemory(a.MemoryBytes))
	}
	var devices []string
	for name, count := range a.Devices {
		if count > 0 {
			devices = append(devices, fmt.Sprintf("gres/%s=%d", listrow.GresName(string(name)), count))
		}
	}
	slices.Sort(devices)
	return strings.Join(append(parts, devices...), ",")
}

// maintenance is part of the key of a taint that keeps pods off a node during maintenance.
const maintenance = "maintenance"

// NodesOf returns the nodes, sorted by name. A node is busy if pods of jobs are running on it, but the requests of all
// pods count as used. A node is planned if pending pods are waiting for resources that the scheduler is freeing on it.
// Times are formatted in the time zone of now.
func NodesOf(list []corev1.Node, pods []corev1.Pod, site *profile.Profile, now time.Time) []*Node {
	held, busy, kept := map[string]*nodecapacity.Amounts{}, map[string]bool{}, map[string]bool{}
	for i := range pods {
		pod := &pods[i]
		if node := state.NominatedNode(pod); node != "" {
			kept[node] = true
		}
		if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		if held[pod.Spec.NodeName] == nil {
			held[pod.Spec.NodeName] = &nodecapacity.Amounts{}
		}
		held[pod.Spec.NodeName].Add(nodecapacity.RequestedByPod(pod), 1)
		busy[pod.Spec.NodeName] = busy[pod.Spec.NodeName] || pod.Labels[keys.JobName] != ""
	}
	nodes := make([]*Node, len(list))
	for i := range list {
		nodes[i] = newNode(&list[i], held[list[i].Name], busy[list[i].Name], now)
		nodes[i].types = site.DeviceTypes(list[i].Labels)
		if word := planned[nodes[i].State]; word != "" && kept[nodes[i].Name] {
			nodes[i].State = word
		}
	}
	slices.SortFunc(nodes, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	return nodes
}

func newNode(node *corev1.Node, held *nodecapacity.Amounts, busy bool, now time.Time) *Node {
	n := &Node{Node: node, Has: nodecapacity.AmountsFromList(node.Status.Allocatable)}
	if held != nil {
		n.Used = *held
	}
	ready := nodecapacity.IsReady(node)
	n.State = string(nodecapacity.StateOfNode(ready, node.Spec.Unschedulable, busy, n.Has, nodecapacity.RemainingAmounts(n.Has, held)))
	for _, taint := range node.Spec.Taints {
		if ready && strings.Contains(taint.Key, maintenance) && taint.Effect == corev1.TaintEffectNoSchedule {
			n.State = "maint"
		}
	}
	if n.State == "down" {
		n.State = "down*" // * means that the node does not respond
	}
	n.Reason = node.Annotations[keys.DrainReason]
	switch {
	case n.Reason == "" && node.Spec.Unschedulable:
		n.Reason = "cordoned"
	case n.Reason == "" && !ready:
		n.Reason = "Not responding"
	}
	n.By, n.At = cmp.Or(node.Annotations[keys.DrainedBy], Unknown), Unknown
	if at, err := time.Parse(time.RFC3339, node.Annotations[keys.DrainedAt]); err == nil {
		n.At = at.In(now.Location()).Format(timeformat.Standard)
	}
	return n
}

// PartitionsOf returns the partitions in the site's profile, and a partition for each other queue that accepts jobs.
// The partitions are sorted by name.
func PartitionsOf(queues []*schedulingv1beta1.Queue, nodes []*Node, site *profile.Profile) []*Partition {
	takesJobs := map[string]*schedulingv1beta1.Queue{}
	for _, q := range queues {
		takesJobs[q.Name] = q
	}
	delete(takesJobs, keys.RootQueue)
	for _, q := range queues {
		delete(takesJobs, q.ParentName())
	}
	lookup := schedulingv1beta1.NewQueueLookup(queues...)
	standard := cmp.Or(site.DefaultPartition, keys.DefaultQueue)
	var partitions []*Partition
	add := func(name string, q *schedulingv1beta1.Queue) {
		limits := site.LimitsOf(name, schedulingv1beta1.EffectiveJobLimitsOf(q.Name, lookup))
		p := &Partition{Name: name, Default: name == standard, Avail: availableText(q), Queue: q, Limits: limits,
			MaxTime: formatLimit(limits.MaxTime, "infinite"), DefaultTime: formatLimit(limits.DefaultTime, "n/a")}
		for _, n := range nodes {
			if servesNode(q, n) && profile.MatchesLabels(n.Labels, site.NodeSelector) {
				p.Nodes = append(p.Nodes, n)
			}
		}
		partitions = append(partitions, p)
	}
	named := map[string]bool{}
	for name, own := range site.Partitions {
		queue := cmp.Or(own.Queue, name)
		if q := takesJobs[queue]; q != nil {
			named[queue] = true
			add(name, q)
		}
	}
	for name, q := range takesJobs {
		if !named[name] {
			add(name, q)
		}
	}
	slices.SortFunc(partitions, func(a, b *Partition) int { return strings.Compare(a.Name, b.Name) })
	return partitions
}

// MaximumNodes returns the maximum number of nodes per job, or the given word if there is no limit.
func (p *Partition) MaximumNodes(unlimited string) string {
	if p.Limits.MaxNodes == 0 {
		return unlimited
	}
	return strconv.FormatInt(p.Limits.MaxNodes, 10)
}

// formatLimit formats a time limit as sinfo does. It returns none if there is no limit.
func formatLimit(limit optionvalue.Minutes, none string) string {
	if limit == optionvalue.Unlimited {
		return none
	}
	return state.ShortClock(limit.ToDuration())
}

func availableText(q *schedulingv1beta1.Queue) string {
	switch q.Status.State {
	case schedulingv1beta1.QueueStateClosing:
		return "drain"
	case schedulingv1beta1.QueueStateClosed:
		return "inact"
	case schedulingv1beta1.QueueStateUnknown:
		return "down"
	}
	return "up"
}

// servesNode reports whether jobs of a queue may run on a node, considering the queue's node groups.
func servesNode(q *schedulingv1beta1.Queue, n *Node) bool {
	return q.AdmitsGroup(n.Labels[keys.NodeGroup])
}

// SumAllocatable returns the sum of the nodes' allocatable resources.
func SumAllocatable(nodes []*Node) nodecapacity.Amounts {
	var sum nodecapacity.Amounts
	for _, n := range nodes {
		sum.Add(n.Has, 1)
	}
	return sum
}
