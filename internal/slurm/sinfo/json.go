package sinfo

import "github.com/vc-batch/vc/internal/slurm/squeue"

// Document is the output of --json.
type Document struct {
	Sinfo    []Entry     `json:"sinfo"`
	Meta     squeue.Meta `json:"meta"`
	Errors   []string    `json:"errors"`
	Warnings []string    `json:"warnings"`
}

// Entry is a line of sinfo's output.
type Entry struct {
	Partition struct {
		Name  string `json:"name"`
		State string `json:"state"`
	} `json:"partition"`
	Node struct {
		State []string `json:"state"`
	} `json:"node"`
	Nodes struct {
		Allocated int      `json:"allocated"`
		Idle      int      `json:"idle"`
		Other     int      `json:"other"`
		Total     int      `json:"total"`
		Nodes     []string `json:"nodes"`
	} `json:"nodes"`
	CPUs   string `json:"cpus"`
	Memory Memory `json:"memory"`
	Gres   string `json:"gres"`
	Reason string `json:"reason"`
}

// Memory describes the memory of the nodes in a line, in MiB: the smallest and the largest amount on a node, the memory
// requested by pods, and the smallest and the largest amount of free memory on a node.
type Memory struct {
	Minimum   int64 `json:"minimum"`
	Maximum   int64 `json:"maximum"`
	Allocated int64 `json:"allocated"`
	Free      struct {
		Minimum int64 `json:"minimum"`
		Maximum int64 `json:"maximum"`
	} `json:"free"`
}

func sumMemory(nodes []*Node) Memory {
	var m Memory
	for i, n := range nodes {
		has, free := n.Has.MemoryBytes/memoryUnit, (n.Has.MemoryBytes-n.Used.MemoryBytes)/memoryUnit
		m.Allocated += n.Used.MemoryBytes / memoryUnit
		if i == 0 {
			m.Minimum, m.Free.Minimum = has, free
		}
		m.Minimum, m.Maximum = min(m.Minimum, has), max(m.Maximum, has)
		m.Free.Minimum, m.Free.Maximum = min(m.Free.Minimum, free), max(m.Free.Maximum, free)
	}
	return m
}

// NewDocument returns the document for the given rows.
func NewDocument(rows []*Row, command []string, version string) Document {
	d := Document{Sinfo: []Entry{}, Errors: []string{}, Warnings: []string{},
		Meta: squeue.Meta{Plugin: map[string]string{"type": "openapi/vc"}, Command: command, Slurm: map[string]string{"release": version}}}
	for _, r := range rows {
		var e Entry
		e.Partition.Name, e.Partition.State = r.Partition.Name, r.Partition.Avail
		e.Node.State, e.Nodes.Nodes = []string{}, []string{}
		count := r.countByState()
		e.Nodes.Allocated, e.Nodes.Idle, e.Nodes.Other, e.Nodes.Total, e.CPUs = count[0], count[1], count[2], len(r.Nodes), r.cpusText()
		e.Memory = sumMemory(r.Nodes)
		for _, n := range r.Nodes {
			e.Nodes.Nodes = append(e.Nodes.Nodes, n.Name)
		}
		if len(r.Nodes) > 0 {
			e.Node.State, e.Gres, e.Reason = []string{r.Nodes[0].LongState()}, r.Nodes[0].GresText(), r.Nodes[0].Reason
		}
		d.Sinfo = append(d.Sinfo, e)
	}
	return d
}
