package numaaware

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/vc-batch/vc/internal/model/numa"
)

// topology holds a node's CPUs in a form suitable for choosing among them.
type topology struct {
	all      numa.CPUSet
	cpus     []numa.CPU    // ascending
	numas    []int         // IDs of the NUMA nodes that have CPUs, ascending
	byNuma   []numa.CPUSet // by index in numas
	reserved numa.CPUSet
}

func newTopology(n *numa.Topology) *topology {
	t := &topology{cpus: n.CPUs}
	for _, c := range n.CPUs {
		if !slices.Contains(t.numas, c.Node) {
			t.numas = append(t.numas, c.Node)
		}
	}
	slices.Sort(t.numas)
	members := make([][]int, len(t.numas))
	var all []int
	for _, c := range n.CPUs {
		i, _ := slices.BinarySearch(t.numas, c.Node)
		members[i] = append(members[i], c.ID)
		all = append(all, c.ID)
	}
	for _, list := range members {
		t.byNuma = append(t.byNuma, numa.CPUs(list...))
	}
	t.all = numa.CPUs(all...)
	if whole := int((n.ReservedMilliCPU + 999) / 1000); whole > 0 {
		// If the reservation exceeds the number of CPUs, no CPU remains.
		t.reserved, _ = t.chooseLikeKubelet(t.all, min(whole, t.all.Len()))
	}
	return t
}

// cpusOfNumaNodes returns the CPUs of the NUMA nodes in mask, which are given by index.
func (t *topology) cpusOfNumaNodes(mask uint64) numa.CPUSet {
	var out numa.CPUSet
	for i := range t.numas {
		if mask&(1<<i) != 0 {
			out = out.Union(t.byNuma[i])
		}
	}
	return out
}

// numaMaskOf returns the NUMA nodes that contain CPUs of a set, as a mask of indexes.
func (t *topology) numaMaskOf(set numa.CPUSet) (mask uint64) {
	for i := range t.numas {
		if !set.And(t.byNuma[i]).IsEmpty() {
			mask |= 1 << i
		}
	}
	return mask
}

// chooseLikeKubelet chooses n CPUs as the kubelet's static policy does: whole sockets first, then whole cores, then
// single threads. It prefers CPUs of partly used sockets and cores. It returns false if there are fewer than n free
// CPUs.
func (t *topology) chooseLikeKubelet(free numa.CPUSet, n int) (numa.CPUSet, bool) {
	if free.Len() < n || n < 0 {
		return numa.CPUSet{}, false
	}
	var out numa.CPUSet
	socketOf := func(c numa.CPU) core { return core{socket: c.Socket} }
	coreOf := func(c numa.CPU) core { return core{c.Socket, c.Core} }
	for _, key := range []func(numa.CPU) core{socketOf, coreOf} {
		for _, whole := range t.findIdleUnits(free, key) {
			if size := whole.Len(); size <= n {
				out, free, n = out.Union(whole), free.Minus(whole), n-size
			}
		}
	}
	for _, cpu := range t.orderThreads(free, out) {
		if n == 0 {
			break
		}
		out, n = out.Union(numa.CPUs(cpu)), n-1
	}
	return out, true
}

// core identifies a core or, with the number 0, a socket. The number of a core is unique only within its socket.
type core struct{ socket, number int }

// findIdleUnits returns the sockets or cores whose CPUs are all free. They are sorted by the number of free CPUs of
// their socket, fewest first, then by socket and core number.
func (t *topology) findIdleUnits(free numa.CPUSet, key func(numa.CPU) core) []numa.CPUSet {
	type unit struct {
		key     core
		members []int
		taken   bool
	}
	units := map[core]*unit{}
	sockets := map[int]int{} // number of free CPUs by socket
	var order []*unit
	for _, c := range t.cpus {
		k := key(c)
		u := units[k]
		if u == nil {
			u = &unit{key: k}
			units[k] = u
			order = append(order, u)
		}
		u.members = append(u.members, c.ID)
		if free.Has(c.ID) {
			sockets[c.Socket]++
		} else {
			u.taken = true
		}
	}
	slices.SortStableFunc(order, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(sockets[a.key.socket], sockets[b.key.socket]), cmp.Compare(a.key.socket, b.key.socket), cmp.Compare(a.key.number, b.key.number))
	})
	var out []numa.CPUSet
	for _, u := range order {
		if !u.taken {
			out = append(out, numa.CPUs(u.members...))
		}
	}
	return out
}

// orderThreads returns single free CPUs in order of preference: first on sockets from which CPUs have already been
// taken, then on the fullest sockets and cores.
func (t *topology) orderThreads(free, taken numa.CPUSet) []int {
	mine, sockets, cores := map[int]int{}, map[int]int{}, map[core]int{}
	var left []numa.CPU
	for _, c := range t.cpus {
		if taken.Has(c.ID) {
			mine[c.Socket]++
		}
		if free.Has(c.ID) {
			sockets[c.Socket]++
			cores[core{c.Socket, c.Core}]++
			left = append(left, c)
		}
	}
	slices.SortStableFunc(left, func(a, b numa.CPU) int {
		return cmp.Or(
			-cmp.Compare(mine[a.Socket], mine[b.Socket]),
			cmp.Compare(sockets[a.Socket], sockets[b.Socket]), cmp.Compare(a.Socket, b.Socket),
			cmp.Compare(cores[core{a.Socket, a.Core}], cores[core{b.Socket, b.Core}]), cmp.Compare(a.Core, b.Core),
			cmp.Compare(a.ID, b.ID),
		)
	})
	out := make([]int, len(left))
	for i, c := range left {
		out[i] = c.ID
	}
	return out
}

// hint is a set of NUMA nodes, by index, that have enough free CPUs.
type hint struct {
	mask      uint64
	preferred bool // no smaller number of NUMA nodes could ever have enough CPUs
}

// maxMasks is the maximum number of NUMA nodes for which all combinations are considered. With more NUMA nodes, only
// sets of consecutive NUMA nodes are considered.
const maxMasks = 8

// findNumaHints returns all sets of NUMA nodes that have at least n free CPUs.
func (t *topology) findNumaHints(free numa.CPUSet, n int) []hint {
	least := 65
	var out []hint
	for _, mask := range t.candidateMasks() {
		cpus := t.cpusOfNumaNodes(mask)
		if cpus.Len() >= n {
			least = min(least, bits.OnesCount64(mask))
		}
		if cpus.And(free).Len() >= n {
			out = append(out, hint{mask: mask})
		}
	}
	for i := range out {
		out[i].preferred = bits.OnesCount64(out[i].mask) == least
	}
	return out
}

func (t *topology) candidateMasks() (masks []uint64) {
	n := len(t.numas)
	if n <= maxMasks {
		for mask := uint64(1); mask < 1<<n; mask++ {
			masks = append(masks, mask)
		}
		return masks
	}
	for size := 1; size <= n; size++ {
		for first := 0; first+size <= n; first++ {
			masks = append(masks, (1<<size-1)<<first)
		}
	}
	return masks
}

// selectBestHint returns the hint that the kubelet's topology manager would select if only CPUs are aligned: a
// preferred hint if possible, then the hint with the fewest NUMA nodes, then the one with the lowest indexes.
func selectBestHint(hints []hint) (hint, bool) {
	if len(hints) == 0 {
		return hint{}, false
	}
	return slices.MinFunc(hints, func(a, b hint) int {
		switch {
		case a.preferred != b.preferred && a.preferred:
			return -1
		case a.preferred != b.preferred:
			return 1
		}
		return cmp.Or(cmp.Compare(bits.OnesCount64(a.mask), bits.OnesCount64(b.mask)), cmp.Compare(a.mask, b.mask))
	}), true
}

// Policies of the kubelet's topology manager.
const (
	policyNone       = "none"
	policyBestEffort = "best-effort"
	policyRestricted = "restricted"
	policySingle     = "single-numa-node"
)

// admitHints returns the NUMA nodes for a container under a policy, as a mask of indexes; 0 means any nodes. It returns
// false if the kubelet would reject the pod.
func admitHints(policy string, hints []hint) (mask uint64, ok bool) {
	if policy == policySingle {
		hints = slices.DeleteFunc(slices.Clone(hints), func(h hint) bool { return bits.OnesCount64(h.mask) != 1 || !h.preferred })
	}
	h, found := selectBestHint(hints)
	switch policy {
	case policyRestricted:
		return h.mask, found && h.preferred
	case policySingle:
		return h.mask, found
	case policyBestEffort:
		return h.mask, true
	}
	return 0, true
}

// assignCPUs assigns n CPUs to a container, first from the NUMA nodes in mask.
func (t *topology) assignCPUs(free numa.CPUSet, mask uint64, n int) (numa.CPUSet, bool) {
	if mask == 0 {
		return t.chooseLikeKubelet(free, n)
	}
	near := free.And(t.cpusOfNumaNodes(mask))
	first, ok := t.chooseLikeKubelet(near, min(near.Len(), n))
	if !ok {
		return numa.CPUSet{}, false
	}
	rest, ok := t.chooseLikeKubelet(free.Minus(first), n-first.Len())
	return first.Union(rest), ok
}
