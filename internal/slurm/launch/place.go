package launch

import (
	"fmt"
	"strconv"
	"strings"
)

// Variables that the pod brings, by the downward API and by the job controller.
const (
	EnvPod      = "VC_POD_NAME"
	EnvJob      = "VC_JOB_NAME"
	EnvTask     = "VC_TASK_NAME"
	EnvJobID    = "VC_JOB_ID"
	EnvElement  = "VC_ELEMENT_ID"
	EnvIndex    = "VC_ARRAY_INDEX"
	EnvRestarts = "VC_RESTARTS"
	// EnvRetries is what Volcano's own controller says of restarts.
	EnvRetries = "VC_RETRIES"
	EnvNode    = "VC_NODE_NAME"
	EnvAddress = "VC_POD_IP"
)

// Pod is what a pod knows of itself.
type Pod struct {
	Name, Job, Task string
	// JobID and ElementID are numbers, "" where the cluster gives none.
	JobID, ElementID string
	// ArrayIndex is -1 unless the job is an array.
	ArrayIndex int
	Restarts   int
	// Node is the Kubernetes node, Address the pod's.
	Node, Address string
}

// PodOf reads what the pod brings.
func PodOf(env func(string) string) (Pod, error) {
	p := Pod{
		Name: env(EnvPod), Job: env(EnvJob), Task: env(EnvTask), JobID: env(EnvJobID), ElementID: env(EnvElement), ArrayIndex: -1,
		Node: env(EnvNode), Address: env(EnvAddress),
	}
	if p.Name == "" || p.Job == "" || p.Task == "" {
		return p, fmt.Errorf("%s, %s and %s are not all set: this is no pod of a batch job", EnvPod, EnvJob, EnvTask)
	}
	for _, number := range []struct {
		name string
		to   *int
	}{{EnvIndex, &p.ArrayIndex}, {EnvRetries, &p.Restarts}, {EnvRestarts, &p.Restarts}} {
		text := env(number.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return p, fmt.Errorf("%s=%q is no number", number.name, text)
		}
		*number.to = n
	}
	return p, nil
}

// Place is where a pod stands among the nodes of its allocation.
type Place struct {
	// NodeID is 0 for the head.
	NodeID int
	// Hosts are the host names of all nodes, the head first.
	Hosts []string
}

// Head says that the script runs here.
func (p Place) Head() bool { return p.NodeID == 0 }

// Host is the pod's own host name.
func (p Place) Host() string { return p.Hosts[p.NodeID] }

// settle makes a pod the nth element of its array. Its id is JOB_INDEX: no number, but different from that of all others.
func (p *Pod) settle(a *Array, n int) error {
	index, ok := a.Element(n)
	if !ok {
		return fmt.Errorf("pod %q is element %d of the array %s", p.Name, n, a.Elements)
	}
	p.ArrayIndex = index
	if p.ElementID == "" {
		p.ElementID = fmt.Sprintf("%s_%d", p.arrayID(), index)
	}
	return nil
}

// PlaceOf finds a pod among the nodes of its allocation. Those of an array's element are the pods of one partition, all others are the task
// head and the task node. Where the job controller did not say which element a pod is, the pod's own number does, and it is told to the pod.
func PlaceOf(s *Spec, p *Pod) (Place, error) {
	index, err := strconv.Atoi(strings.TrimPrefix(p.Name, p.Job+"-"+p.Task+"-"))
	if err != nil || index < 0 {
		return Place{}, fmt.Errorf("pod %q is not called %s-%s-INDEX", p.Name, p.Job, p.Task)
	}
	nodes := max(s.Nodes, 1)
	host := func(task string, i int) string { return fmt.Sprintf("%s-%s-%d", p.Job, task, i) }
	var place Place
	if s.Array != nil {
		if p.ArrayIndex < 0 {
			if err := p.settle(s.Array, index/nodes); err != nil {
				return Place{}, err
			}
		}
		place.NodeID = index % nodes
		for i := range nodes {
			place.Hosts = append(place.Hosts, host(p.Task, index-place.NodeID+i))
		}
		return place, nil
	}
	place.Hosts = []string{host(HeadTask, 0)}
	for i := range nodes - 1 {
		place.Hosts = append(place.Hosts, host(NodeTask, i))
	}
	if p.Task == NodeTask {
		place.NodeID = index + 1
	}
	if place.NodeID >= nodes {
		return Place{}, fmt.Errorf("pod %q is node %d of %d", p.Name, place.NodeID, nodes)
	}
	return place, nil
}
