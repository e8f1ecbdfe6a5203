package extender

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// The types of the request bodies. They have the names of Volcano's structs wherever this project has equivalent data.

type resources struct {
	MilliCPU        float64
	Memory          float64
	ScalarResources map[string]float64 `json:",omitempty"` // in thousandths, as in Volcano
}

type taskInfo struct {
	UID, Job        string
	Name, Namespace string
	TaskRole        string
	Resreq          resources
	InitResreq      resources
	NodeName        string
	Status          int
	Priority        int32
	Preemptable     bool
	BestEffort      bool
	Pod             *corev1.Pod // name, labels and the annotations that policies read
}

type nodeInfo struct {
	Name        string
	Node        *corev1.Node // name, labels, taints and the annotations that policies read
	Allocatable resources
	Idle        resources
	Used        resources
	Releasing   resources
	Pipelined   resources
}

type jobInfo struct {
	UID, Name, Namespace, Queue string
	Priority                    int32
	MinAvailable                int
	MinResources                resources
	TaskMinAvailable            map[string]int `json:",omitempty"`
	Allocated, TotalRequest     resources
	Tasks                       map[string]taskInfo
}

type queueInfo struct {
	UID, Name string
	Weight    int32
	Allocated resources
	Deserved  resources
}

// statuses maps statuses to Volcano's numbers.
var statuses = map[model.Status]int{
	model.Pending: 1, model.Pipelined: 4, model.Binding: 8, model.Bound: 16, model.Running: 32, model.Releasing: 64, model.Lingering: 64,
	model.Succeeded: 128, model.Failed: 256, model.Unknown: 512,
}

// toResources converts amounts by index into Volcano's format.
func (p *Policy) toResources(each func(visit func(index int, value float64))) resources {
	var r resources
	each(func(index int, value float64) {
		switch index {
		case resource.CPU:
			r.MilliCPU = value
		case resource.Memory:
			r.Memory = value
		default:
			if value == 0 {
				return
			}
			if r.ScalarResources == nil {
				r.ScalarResources = map[string]float64{}
			}
			if index != resource.Pods {
				value *= 1000
			}
			r.ScalarResources[p.s.Cluster.Resources.Name(index)] = value
		}
	})
	return r
}

func (p *Policy) resourcesOfRequest(r resource.Request) resources {
	return p.toResources(func(visit func(int, float64)) {
		for _, t := range r {
			visit(int(t.Index), float64(t.Value))
		}
	})
}

func resourcesOfVector[V int64 | float64](p *Policy, values []V) resources {
	return p.toResources(func(visit func(int, float64)) {
		for i, v := range values {
			if i < p.s.Cluster.Resources.Len() {
				visit(i, float64(v))
			}
		}
	})
}

func (p *Policy) taskRequestBody(t *model.Task) taskInfo {
	info := taskInfo{
		UID: string(t.UID), Name: t.Name, Namespace: t.Namespace, TaskRole: t.Role,
		Resreq: p.resourcesOfRequest(t.Shape.Request), Status: statuses[t.Status], Priority: t.Priority, Preemptable: t.Preemptable, BestEffort: t.Shape.BestEffort,
		Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: t.Name, Namespace: t.Namespace, UID: t.UID, Labels: t.Labels, Annotations: t.Annotations}},
	}
	info.InitResreq = info.Resreq
	if t.Gang != nil {
		info.Job = t.Gang.Key()
	}
	if t.Node != model.NoNode {
		info.NodeName = p.s.Cluster.Nodes.Name[t.Node]
	}
	return info
}

func (p *Policy) nodeRequestBody(id model.NodeID) nodeInfo {
	n := &p.s.Cluster.Nodes
	info := nodeInfo{Name: n.Name[id], Allocatable: resourcesOfVector(p, n.Row(n.Alloc, id)), Used: resourcesOfVector(p, n.Row(n.Used, id)),
		Idle: resourcesOfVector(p, n.Row(p.s.View.Idle, id)), Releasing: resourcesOfVector(p, n.Row(n.Releasing, id)), Pipelined: resourcesOfVector(p, n.Row(n.Pipelined, id))}
	if i := n.Info[id]; i != nil {
		info.Node = &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n.Name[id], Labels: i.Labels, Annotations: i.Annotations},
			Spec:       corev1.NodeSpec{Unschedulable: i.Unschedulable, Taints: i.Taints},
		}
	}
	return info
}

func (p *Policy) jobRequestBody(j *framework.Job) jobInfo {
	info := jobInfo{
		UID: j.Key(), Name: j.Gang.Name, Namespace: j.Namespace, Queue: j.In.Name, Priority: j.Priority,
		MinAvailable: j.MinMember, MinResources: p.resourcesOfRequest(j.MinResources), TaskMinAvailable: j.MinTaskMember,
		Allocated: resourcesOfVector(p, j.Sums.Allocated), Tasks: map[string]taskInfo{},
	}
	var all resource.Vec
	for _, t := range j.Tasks {
		info.Tasks[string(t.UID)] = p.taskRequestBody(t)
		all.Add(t.Shape.Request)
	}
	info.TotalRequest = resourcesOfVector(p, all)
	return info
}

func (p *Policy) queueRequestBody(q *queue.Queue) queueInfo {
	return queueInfo{UID: q.Name, Name: q.Name, Weight: q.Weight, Allocated: resourcesOfVector(p, q.Allocated), Deserved: resourcesOfVector(p, q.Deserved)}
}

// snapshotRequestBody returns the description of the cluster that a server receives before the first request of a
// cycle.
func (p *Policy) snapshotRequestBody() map[string]any {
	jobs, nodes, queues := map[string]jobInfo{}, map[string]nodeInfo{}, map[string]queueInfo{}
	revocable := map[string]nodeInfo{}
	var list []nodeInfo
	for _, key := range slices.Sorted(maps.Keys(p.s.Cluster.Gangs)) {
		if g := p.s.Cluster.Gangs[key]; g.Known {
			if j := p.s.Job(g); j != nil {
				jobs[key] = p.jobRequestBody(j)
			}
		}
	}
	for _, id := range p.s.View.Order {
		n := p.nodeRequestBody(id)
		nodes[n.Name] = n
		list = append(list, n)
		if n.Node != nil && n.Node.Labels[keys.RevocableZone] != "" {
			revocable[n.Name] = n
		}
	}
	for _, q := range p.s.Ledger.Queues {
		queues[q.Name] = p.queueRequestBody(q)
	}
	return map[string]any{"Jobs": jobs, "Nodes": nodes, "Queues": queues, "NamespaceInfo": map[string]any{}, "RevocableNodes": revocable, "NodeList": list}
}
