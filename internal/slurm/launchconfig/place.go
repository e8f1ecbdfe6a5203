package launchconfig

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Environment variables of the pod, which are set through the downward API or by the job controller.
const (
	EnvPod      = "VC_POD_NAME"
	EnvJob      = "VC_JOB_NAME"
	EnvTask     = "VC_TASK_NAME"
	EnvJobID    = "VC_JOB_ID"
	EnvElement  = "VC_ELEMENT_ID"
	EnvIndex    = "VC_ARRAY_INDEX"
	EnvRestarts = "VC_RESTARTS"
	// EnvRetries contains the number of restarts as counted by Volcano's own controller.
	EnvRetries = "VC_RETRIES"
	EnvNode    = "VC_NODE_NAME"
	EnvAddress = "VC_POD_IP"
)

// Pod describes the pod in which this program is running.
type Pod struct {
	Name, Job, Task string
	// JobID and ElementID are numbers. They are empty if the cluster does not assign numbers.
	JobID, ElementID string
	// ArrayIndex is -1 if the job is not an array.
	ArrayIndex int
	Restarts   int
	// Node is the name of the Kubernetes node. Address is the IP address of the pod.
	Node, Address string
}

// ReadPod reads the description of the pod from its environment variables.
func ReadPod(env func(string) string) (Pod, error) {
	p := Pod{
		Name: env(EnvPod), Job: env(EnvJob), Task: env(EnvTask), JobID: env(EnvJobID), ElementID: env(EnvElement), ArrayIndex: -1,
		Node: env(EnvNode), Address: env(EnvAddress),
	}
	if p.Name == "" || p.Job == "" || p.Task == "" {
		return p, fmt.Errorf("the environment variables %s, %s and %s are not all set: this is not a pod of a batch job", EnvPod, EnvJob, EnvTask)
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
			return p, fmt.Errorf("%s=%q is not a number", number.name, text)
		}
		*number.to = n
	}
	return p, nil
}

// SlurmJobID returns the value of SLURM_JOB_ID: the number of the array element if there is one, otherwise the number
// of the job, otherwise the name of the job.
func (p *Pod) SlurmJobID() string {
	switch {
	case p.ElementID != "":
		return p.ElementID
	case p.JobID != "":
		return p.JobID
	}
	return p.Job
}

// DisplayID returns the ID that squeue prints: JOB_INDEX for an element of an array, otherwise SlurmJobID.
func (p *Pod) DisplayID() string {
	if p.ArrayIndex >= 0 {
		return p.JobID + "_" + strconv.Itoa(p.ArrayIndex)
	}
	return p.SlurmJobID()
}

// HasID reports whether id identifies this pod's job. It accepts the value of SLURM_JOB_ID, the number of the job (with
// the index, for an element of an array), and the name of the job.
func (p *Pod) HasID(id string) bool {
	number := p.JobID
	if p.ArrayIndex >= 0 {
		number = p.DisplayID()
	}
	return slices.Contains([]string{number, p.SlurmJobID(), p.Job}, id)
}

// arrayIDOrName returns the number of the whole array, or its name if it has no number.
func (p *Pod) arrayIDOrName() string {
	if p.JobID != "" {
		return p.JobID
	}
	return p.Job
}

// Place is the position of a pod among the nodes of its allocation.
type Place struct {
	// NodeID is the index of the pod in Hosts. It is 0 for the head.
	NodeID int
	// Hosts lists the host names of all nodes, starting with the head.
	Hosts []string
}

// IsHead reports whether this pod is the head, which runs the script.
func (p Place) IsHead() bool { return p.NodeID == 0 }

// OwnHost returns the pod's own host name.
func (p Place) OwnHost() string { return p.Hosts[p.NodeID] }

// setElement makes a pod the nth element of its array. If the cluster does not assign element IDs, the ID becomes
// JOB_INDEX, which is unique but not a number.
func (p *Pod) setElement(a *Array, n int) error {
	index, ok := a.ElementIndex(n)
	if !ok {
		return fmt.Errorf("pod %q is at position %d, but the array %s has fewer tasks", p.Name, n, a.Elements)
	}
	p.ArrayIndex = index
	if p.ElementID == "" {
		p.ElementID = fmt.Sprintf("%s_%d", p.arrayIDOrName(), index)
	}
	return nil
}

// FindPlace returns the place of a pod in its allocation. For an array element, the nodes of the allocation are the
// pods of one partition. Otherwise, they are the pods of the tasks head and node. If the job controller did not set the
// array index, FindPlace derives the index from the pod's own number and sets it in p.
func FindPlace(s *Spec, p *Pod) (Place, error) {
	index, err := strconv.Atoi(strings.TrimPrefix(p.Name, p.Job+"-"+p.Task+"-"))
	if err != nil || index < 0 {
		return Place{}, fmt.Errorf("the name of pod %q does not match %s-%s-INDEX", p.Name, p.Job, p.Task)
	}
	nodes := max(s.Nodes, 1)
	host := func(task string, i int) string { return fmt.Sprintf("%s-%s-%d", p.Job, task, i) }
	var place Place
	if s.Array != nil {
		if p.ArrayIndex < 0 {
			if err := p.setElement(s.Array, index/nodes); err != nil {
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
		return Place{}, fmt.Errorf("pod %q has node number %d, but the number of nodes is %d", p.Name, place.NodeID, nodes)
	}
	return place, nil
}
