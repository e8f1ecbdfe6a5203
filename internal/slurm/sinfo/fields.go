package sinfo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/hostlist"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
)

// The default formats of sinfo.
const (
	Default        = "%#P %.5a %.10l %.6D %.6t %N"
	Verbose        = "%#P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %.11i %N"
	Summary        = "%#P %.5a %.10l %.16F %N"
	ByNode         = "%#N %.6D %#P %6t"
	ByNodeVerbose  = "%#N %.6D %#P %.11T %.4c %.8z %.6m %.8d %.6w %.8f %20E"
	Reasons        = "%20E %9u %19H %N"
	ReasonsVerbose = "%20E %12U %19H %6t %N"
	none, noValue  = "N/A", "(null)"
	memoryUnit     = 1 << 20
)

// Row is a line of output. It consists of a partition, and of those of its nodes that have equal values in the printed
// columns.
type Row struct {
	Partition *Partition
	Nodes     []*Node
	// Exact is true if amounts are equal for all nodes. Otherwise, the smallest amount is printed, followed by + if
	// other nodes have more.
	Exact bool
	// Cluster is the name of the cluster.
	Cluster string
}

type field = tableformat.Field[*Row]

// ColumnFields returns all columns.
func ColumnFields() []field {
	column := func(letter byte, words, title string, value func(*Row) string) field {
		return tableformat.NewField(letter, words, title, 0, value)
	}
	text := func(value string) func(*Row) string { return func(*Row) string { return value } }
	first := func(value func(*Node) string) func(*Row) string {
		return func(r *Row) string {
			if len(r.Nodes) == 0 {
				return none
			}
			return value(r.Nodes[0])
		}
	}
	return []field{
		column('a', "Available", "AVAIL", func(r *Row) string { return r.Partition.Avail }),
		column('A', "NodeAI", "NODES(A/I)", func(r *Row) string { c := r.countByState(); return fmt.Sprintf("%d/%d", c[0], c[1]) }),
		column('b', "Features_Act", "ACTIVE_FEATURES", first(nodeFeatures)),
		column('B', "MaxCPUsPerNode", "MAX_CPUS_PER_NODE", text("UNLIMITED")),
		column('c', "CPUs", "CPUS", func(r *Row) string {
			return r.smallestText(func(n *Node) int64 { _, all := n.CountCPUs(); return int64(all) })
		}),
		column('C', "CPUsState", "CPUS(A/I/O/T)", func(r *Row) string { return r.cpusText() }),
		column('d', "Disk", "TMP_DISK", func(r *Row) string {
			return r.smallestText(func(n *Node) int64 { return n.Node.Status.Allocatable.StorageEphemeral().Value() / memoryUnit })
		}),
		column('D', "Nodes", "NODES", func(r *Row) string { return strconv.Itoa(len(r.Nodes)) }),
		column('e', "FreeMem", "FREE_MEM", func(r *Row) string {
			return r.smallestText(func(n *Node) int64 { return (n.Has.MemoryBytes - n.Used.MemoryBytes) / memoryUnit })
		}),
		column('E', "Reason", "REASON", first(func(n *Node) string { return cmp.Or(n.Reason, "none") })),
		column('f', "Features", "AVAIL_FEATURES", first(nodeFeatures)),
		column('F', "NodeAIOT", "NODES(A/I/O/T)", func(r *Row) string {
			c := r.countByState()
			return fmt.Sprintf("%d/%d/%d/%d", c[0], c[1], c[2], len(r.Nodes))
		}),
		column('g', "Groups", "GROUPS", text("all")),
		column('G', "Gres", "GRES", first(func(n *Node) string { return cmp.Or(n.GresText(), noValue) })),
		column('h', "OverSubscribe", "OVERSUBS", text("NO")),
		column('H', "TimeStamp", "TIMESTAMP", first(func(n *Node) string { return n.At })),
		column('i', "Reservation", "RESERVATION", text("")),
		column('I', "PriorityJobFactor", "PRIO_JOB_FACTOR", func(r *Row) string { return strconv.Itoa(int(r.Partition.Queue.Spec.Weight)) }),
		column('l', "Time", "TIMELIMIT", func(r *Row) string { return r.Partition.MaxTime }),
		column('L', "DefaultTime", "DEFAULTTIME", func(r *Row) string { return r.Partition.DefaultTime }),
		column('m', "Memory", "MEMORY", func(r *Row) string {
			return r.smallestText(func(n *Node) int64 { return n.Has.MemoryBytes / memoryUnit })
		}),
		column('M', "PreemptMode", "PREEMPT_MODE", text("REQUEUE")),
		column('n', "NodeHost", "HOSTNAMES", first(func(n *Node) string { return n.Name })),
		column('N', "NodeList", "NODELIST", func(r *Row) string { return r.nodeList() }),
		column('o', "NodeAddr", "NODE_ADDR", first(internalAddress)),
		column('O', "CPUsLoad", "CPU_LOAD", text(none)),
		column('p', "PriorityTier", "PRIO_TIER", func(r *Row) string { return strconv.Itoa(int(r.Partition.Queue.Spec.Priority)) }),
		column('P', "Partition", "PARTITION", func(r *Row) string { return r.Partition.displayName() }),
		column('r', "Root", "ROOT", text("no")),
		column('R', "PartitionName", "PARTITION", func(r *Row) string { return r.Partition.Name }),
		column('s', "Size", "JOB_SIZE", func(r *Row) string { return "1-" + r.Partition.MaximumNodes("infinite") }),
		column('S', "AllocNodes", "ALLOCNODES", text("all")),
		column('t', "StateCompact", "STATE", first(func(n *Node) string { return n.State })),
		column('T', "StateLong", "STATE", first(func(n *Node) string { return n.LongState() })),
		column('u', "User", "USER", first(func(n *Node) string { return n.By })),
		column('U', "UserLong", "USER", first(func(n *Node) string { return n.By })),
		column('v', "Version", "VERSION", first(func(n *Node) string { return n.Node.Status.NodeInfo.KubeletVersion })),
		column('V', "Cluster", "CLUSTER", func(r *Row) string { return r.Cluster }),
		column('w', "Weight", "WEIGHT", text("1")),
		column('X', "Sockets", "SOCKETS", text("1")),
		column('Y', "Cores", "CORES", func(r *Row) string {
			return r.smallestText(func(n *Node) int64 { _, all := n.CountCPUs(); return int64(all) })
		}),
		column('Z', "Threads", "THREADS", text("1")),
		column('z', "SocketCoreThread", "S:C:T", func(r *Row) string {
			return "1:" + r.smallestText(func(n *Node) int64 { _, all := n.CountCPUs(); return int64(all) }) + ":1"
		}),
		column(0, "AllocMem", "ALLOCMEM", func(r *Row) string {
			return r.smallestText(func(n *Node) int64 { return n.Used.MemoryBytes / memoryUnit })
		}),
		column(0, "GresUsed", "GRES_USED", first(func(n *Node) string { return cmp.Or(usedDevices(n), noValue) })),
		column(0, "Comment|Extra|Port|StateComplete", "", text("")),
	}
}

func usedDevices(n *Node) string {
	var parts []string
	for name := range n.Has.Devices {
		parts = append(parts, fmt.Sprintf("%s:%d", listrow.GresName(string(name)), n.Used.Devices[name]))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

func internalAddress(n *Node) string {
	for _, a := range n.Node.Status.Addresses {
		if a.Type == "InternalIP" {
			return a.Address
		}
	}
	return n.Name
}

// nodeFeatures returns the node's group, GPU product and instance type, which it reads from the node's labels.
func nodeFeatures(n *Node) string {
	var all []string
	for _, key := range []string{"volcano.sh/nodegroup-name", "nvidia.com/gpu.product", "node.kubernetes.io/instance-type"} {
		if value := n.Labels[key]; value != "" {
			all = append(all, value)
		}
	}
	return cmp.Or(strings.Join(all, ","), noValue)
}

func (p *Partition) displayName() string {
	if p.Default {
		return p.Name + "*"
	}
	return p.Name
}

func (r *Row) nodeList() string {
	names := make([]string, len(r.Nodes))
	for i, n := range r.Nodes {
		names[i] = n.Name
	}
	hostlist.SortNames(names)
	return hostlist.CompressNames(names)
}

// countByState returns the number of nodes in use, the number of idle nodes, and the number of nodes in other states.
func (r *Row) countByState() (c [3]int) {
	for _, n := range r.Nodes {
		switch n.State {
		case "alloc", "mix", "alloc-", "mix-", "drng":
			c[0]++
		case "idle", "plnd":
			c[1]++
		default:
			c[2]++
		}
	}
	return c
}

func (r *Row) cpusText() string {
	var used, idle, other, all int
	for _, n := range r.Nodes {
		u, a := n.CountCPUs()
		used, all = used+u, all+a
		switch n.State {
		case "alloc", "mix", "idle", "alloc-", "mix-", "plnd":
			idle += max(0, a-u)
		default:
			other += max(0, a-u)
		}
	}
	return fmt.Sprintf("%d/%d/%d/%d", used, idle, other, all)
}

// smallestText returns the smallest amount of any node, followed by + if another node has more.
func (r *Row) smallestText(of func(*Node) int64) string {
	if len(r.Nodes) == 0 {
		return "0"
	}
	low, high := of(r.Nodes[0]), of(r.Nodes[0])
	for _, n := range r.Nodes {
		low, high = min(low, of(n)), max(high, of(n))
	}
	if high > low {
		return strconv.FormatInt(low, 10) + "+"
	}
	return strconv.FormatInt(low, 10)
}
