// Package processtree measures the CPU time and the memory of processes together with all their descendants, for
// containers that have no control group.
//
//	In:   /proc
//	Out:  CPU time and resident memory of the descendants of a process
package processtree

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/procfs"
)

// ticksPerSecond is the unit of CPU times in /proc. It is 100 on all platforms that Go supports.
const ticksPerSecond = 100

// Use is the use of a group of processes.
type Use struct {
	// CPUTime includes the time of processes that have ended.
	CPUTime time.Duration
	// MemoryBytes is the resident memory. Pages that processes share count once for each process.
	MemoryBytes int64
}

// process has the properties of one process.
type process struct {
	pid, parent int
	// ownTicks is the CPU time of the process, and reapedTicks that of its descendants that have ended.
	ownTicks, reapedTicks int64
	memoryBytes           int64
}

// Tree is the state of all processes at one time.
type Tree struct {
	processes map[int]process
	children  map[int][]int
}

// Read reads the state of all processes. It skips processes that end meanwhile.
func Read() (*Tree, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list of processes: %w", err)
	}
	processes := make([]process, 0, len(all))
	for _, one := range all {
		stat, err := one.Stat()
		if err != nil {
			continue
		}
		processes = append(processes, process{
			pid: stat.PID, parent: stat.PPID, ownTicks: int64(stat.UTime + stat.STime), reapedTicks: int64(stat.CUTime + stat.CSTime),
			memoryBytes: int64(stat.ResidentMemory()),
		})
	}
	return newTree(processes), nil
}

func newTree(processes []process) *Tree {
	t := &Tree{processes: map[int]process{}, children: map[int][]int{}}
	for _, p := range processes {
		t.processes[p.pid] = p
		t.children[p.parent] = append(t.children[p.parent], p.pid)
	}
	return t
}

// UseBelow returns the use of all descendants of a process, without the process itself. Descendants that have ended
// count if their parent has waited for them.
func (t *Tree) UseBelow(pid int) Use {
	ticks, use := t.processes[pid].reapedTicks, Use{}
	pending := slices.Clone(t.children[pid])
	for len(pending) > 0 {
		last := len(pending) - 1
		p := t.processes[pending[last]]
		ticks += p.ownTicks + p.reapedTicks
		use.MemoryBytes += p.memoryBytes
		pending = append(pending[:last], t.children[p.pid]...)
	}
	use.CPUTime = time.Duration(ticks) * time.Second / ticksPerSecond
	return use
}
