package top

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/nodecapacity"
	"github.com/vc-batch/vc/internal/render"
)

// answer is the output of -o json and -o yaml.
type answer struct {
	Summary summary `json:"summary"`
	// Nodes is empty if the user may not list nodes; Hidden is then the reason. The same holds for Queues.
	Nodes  []nodeAnswer  `json:"nodes"`
	Queues []queueAnswer `json:"queues"`
	Pods   []podAnswer   `json:"pods"`
	Jobs   []jobAnswer   `json:"jobs"`
	Hidden []string      `json:"hidden,omitempty"`
}

// summary counts nodes by their status, resources of the nodes, and the pods and jobs of the namespace by phase.
type summary struct {
	Nodes     map[string]int   `json:"nodes"`
	Resources []resourceAnswer `json:"resources"`
	Pods      map[string]int   `json:"pods"`
	Jobs      map[string]int   `json:"jobs"`
}

// resourceAnswer holds the amounts of a resource over all nodes. Idle counts only nodes that accept pods.
type resourceAnswer struct {
	Name        corev1.ResourceName `json:"name"`
	Allocatable resource.Quantity   `json:"allocatable"`
	Requested   resource.Quantity   `json:"requested"`
	Idle        resource.Quantity   `json:"idle"`
}

type nodeAnswer struct {
	Name        string              `json:"name"`
	Status      string              `json:"status"`
	Allocatable corev1.ResourceList `json:"allocatable"`
	Idle        corev1.ResourceList `json:"idle"`
}

type queueAnswer struct {
	Name       string              `json:"name"`
	State      string              `json:"state"`
	Running    int32               `json:"running"`
	Inqueue    int32               `json:"inqueue"`
	Pending    int32               `json:"pending"`
	Allocated  corev1.ResourceList `json:"allocated,omitempty"`
	Deserved   corev1.ResourceList `json:"deserved,omitempty"`
	Capability corev1.ResourceList `json:"capability,omitempty"`
}

type podAnswer struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Status    string `json:"status"`
	Node      string `json:"node,omitempty"`
}

type jobAnswer struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Queue     string `json:"queue,omitempty"`
	Phase     string `json:"phase"`
	Running   int32  `json:"running"`
	Pending   int32  `json:"pending"`
	Succeeded int32  `json:"succeeded"`
	Failed    int32  `json:"failed"`
}

// summarize returns the summary of a frame.
func (p *frame) summarize() summary {
	s := summary{Nodes: map[string]int{}, Pods: map[string]int{}, Jobs: map[string]int{}, Resources: []resourceAnswer{}}
	rooms := nodecapacity.RoomOfAllNodes(p.nodes, p.all)
	names := map[corev1.ResourceName]bool{}
	for i := range rooms {
		s.Nodes[rooms[i].Status]++
		for name := range toResourceList(&rooms[i].Has) {
			names[name] = true
		}
	}
	for _, name := range slices.SortedFunc(maps.Keys(names), compareResources) {
		s.Resources = append(s.Resources, sumResource(rooms, name))
	}
	for _, pod := range p.pods {
		s.Pods[string(pod.Status.Phase)]++
	}
	for _, job := range p.jobs {
		s.Jobs[string(jobstatus.PhaseOrPending(job))]++
	}
	return s
}

// compareResources orders CPU and memory before devices.
func compareResources(a, b corev1.ResourceName) int {
	isDevice := func(name corev1.ResourceName) int { return strings.Count(string(name), "/") }
	return cmp.Or(cmp.Compare(isDevice(a), isDevice(b)), cmp.Compare(a, b))
}

// sumResource returns the amounts of a resource over all nodes.
func sumResource(rooms []nodecapacity.Room, name corev1.ResourceName) resourceAnswer {
	var has, idle, usable int64
	for i := range rooms {
		has += rooms[i].Has.AmountOfResource(name)
		idle += rooms[i].Idle.AmountOfResource(name)
		if rooms[i].Usable {
			usable += rooms[i].Idle.AmountOfResource(name)
		}
	}
	return resourceAnswer{name, toQuantity(name, has), toQuantity(name, has-idle), toQuantity(name, usable)}
}

// toQuantity converts an amount of nodecapacity to a quantity.
func toQuantity(name corev1.ResourceName, amount int64) resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(amount, resource.DecimalSI)
	case corev1.ResourceMemory:
		return *resource.NewQuantity(amount, resource.BinarySI)
	}
	return *resource.NewQuantity(amount, resource.DecimalSI)
}

func toResourceList(a *nodecapacity.Amounts) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourceCPU: toQuantity(corev1.ResourceCPU, a.MilliCPU), corev1.ResourceMemory: toQuantity(corev1.ResourceMemory, a.MemoryBytes)}
	for name, amount := range a.Devices {
		list[name] = toQuantity(name, amount)
	}
	return list
}

// answer returns the frame for -o json and -o yaml.
func (p *frame) answer() *answer {
	a := &answer{Summary: p.summarize(), Nodes: []nodeAnswer{}, Queues: []queueAnswer{}, Pods: []podAnswer{}, Jobs: []jobAnswer{}}
	for _, hidden := range []string{p.hidden, p.hiddenQueues} {
		if hidden != "" {
			a.Hidden = append(a.Hidden, hidden)
		}
	}
	for _, room := range nodecapacity.RoomOfAllNodes(p.nodes, p.all) {
		a.Nodes = append(a.Nodes, nodeAnswer{room.Name, room.Status, toResourceList(&room.Has), toResourceList(&room.Idle)})
	}
	for _, q := range p.queues {
		a.Queues = append(a.Queues, queueAnswer{q.Name, string(q.Status.State), q.Status.Running, q.Status.Inqueue, q.Status.Pending, q.Status.Allocated, q.Status.Deserved, q.Spec.Capability})
	}
	for _, pod := range p.pods {
		a.Pods = append(a.Pods, podAnswer{pod.Namespace, pod.Name, cli.PodStatus(pod), pod.Spec.NodeName})
	}
	for _, job := range p.jobs {
		s := &job.Status
		a.Jobs = append(a.Jobs, jobAnswer{job.Namespace, job.Name, job.Spec.Queue, string(jobstatus.PhaseOrPending(job)), s.Running, s.Pending, s.Succeeded, s.Failed})
	}
	return a
}

// summaryTable returns the summary as a table with one line per topic.
func (p *frame) summaryTable() render.Table {
	s := p.summarize()
	table := render.Table{Gap: 3}
	add := func(name, text string) { table.Rows = append(table.Rows, []string{name, text}) }
	if p.hidden == "" {
		add("nodes", countsText(s.Nodes))
	}
	for _, r := range s.Resources {
		has, requested, idle := r.Allocatable, r.Requested, r.Idle
		amount := func(q resource.Quantity) string {
			if r.Name == corev1.ResourceCPU {
				return render.FormatCores(q.MilliValue())
			}
			return render.FormatAmount(r.Name, q.Value())
		}
		add(string(r.Name), fmt.Sprintf("%s of %s requested, %s idle", amount(requested), amount(has), amount(idle)))
	}
	add("pods", countsText(s.Pods))
	add("jobs", countsText(s.Jobs))
	return table
}

// countsText returns counts as text, for example "3 Running, 1 Pending", the largest first.
func countsText(counts map[string]int) string {
	if len(counts) == 0 {
		return "none"
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%d %s", counts[name], name)
	}
	return strings.Join(names, ", ")
}
