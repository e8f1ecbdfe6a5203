package cgroup

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/cgroups"
	"github.com/opencontainers/cgroups/fs"
	"github.com/opencontainers/cgroups/fs2"
)

// mountPoint is the directory of the control group file system.
const mountPoint = "/sys/fs/cgroup"

// Manager creates the control groups of a cluster.
type Manager struct {
	version     int
	memory, cpu string // parent directories; "" if the controller is not available; equal in version 2
	accounting  string // parent directory of the accounting of CPU time in version 1; "" if it is not available
	// Missing is a sentence about limits that cannot be enforced; "" if all can.
	Missing string
}

func clusterName(cluster string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(cluster))
	return fmt.Sprintf("vc-%08x", h.Sum32())
}

// Open detects the controllers that this process may use.
func Open(cluster string) *Manager {
	name := clusterName(cluster)
	m := &Manager{version: 1}
	if cgroups.IsCgroup2UnifiedMode() {
		m.version = 2
		m.memory, m.cpu = openUnified(name)
	} else {
		m.memory, m.cpu, m.accounting = openV1("memory", name), openV1("cpu", name), openV1("cpuacct", name)
	}
	switch {
	case m.memory == "" && m.cpu == "":
		m.Missing = "control groups are not permitted: limits on memory and cpu are not enforced"
	case m.memory == "":
		m.Missing = "the memory control group is not permitted: limits on memory are not enforced"
	case m.cpu == "":
		m.Missing = "the cpu control group is not permitted: limits on cpu are not enforced"
	}
	return m
}

func openUnified(name string) (memory, cpu string) {
	directory := filepath.Join(mountPoint, name)
	for _, controller := range []string{"memory", "cpu"} {
		_ = os.WriteFile(filepath.Join(mountPoint, "cgroup.subtree_control"), []byte("+"+controller), 0)
	}
	if os.Mkdir(directory, 0o755) != nil && !isDirectory(directory) {
		return "", ""
	}
	if os.WriteFile(filepath.Join(directory, "cgroup.subtree_control"), []byte("+memory"), 0) == nil {
		memory = directory
	}
	if os.WriteFile(filepath.Join(directory, "cgroup.subtree_control"), []byte("+cpu"), 0) == nil {
		cpu = directory
	}
	return memory, cpu
}

func openV1(controller, name string) string {
	// In a group below this process's own group, pods also count against the limits of this process.
	own, _ := cgroups.GetOwnCgroupPath(controller)
	root, _ := cgroups.FindCgroupMountpoint(mountPoint, controller)
	for _, parent := range []string{own, root} {
		if !strings.HasPrefix(parent, mountPoint+"/") || !isDirectory(parent) {
			continue
		}
		directory := filepath.Join(parent, name)
		if err := os.Mkdir(directory, 0o755); err == nil || isDirectory(directory) {
			return directory
		}
	}
	return ""
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Group is the control group of a container.
type Group struct {
	version int
	manager cgroups.Manager // nil if control groups are not permitted
	memory  string          // directory with the memory limit; "" if memory is not limited
	// measuresCPU and measuresMemory report whether the group counts the CPU time and the memory of its processes.
	measuresCPU, measuresMemory bool
}

// MeasuresCPU reports whether the groups count the CPU time of their processes.
func (m *Manager) MeasuresCPU() bool {
	return m.cpu != "" && (m.version == 2 || m.accounting != "")
}

// NewLimitedGroup creates a group with limits, which also measures its processes if there are no limits. If control groups
// are not permitted, the group is empty and has no effect.
func (m *Manager) NewLimitedGroup(name string, limits Limits) (*Group, error) {
	if m.memory == "" {
		limits.MemoryBytes = 0
	}
	if m.cpu == "" {
		limits.MilliCPU, limits.MilliCPURequest = 0, 0
	}
	g := &Group{version: m.version}
	paths := map[string]string{}
	if m.memory != "" {
		paths["memory"] = filepath.Join(m.memory, name)
		g.measuresMemory = true
	}
	if limits.MemoryBytes > 0 {
		g.memory = paths["memory"]
	}
	if m.cpu != "" {
		paths["cpu"] = filepath.Join(m.cpu, name)
		if m.accounting != "" {
			paths["cpuacct"] = filepath.Join(m.accounting, name)
		}
		g.measuresCPU = m.MeasuresCPU()
	}
	if len(paths) == 0 {
		return g, nil
	}
	if err := m.createGroup(g, paths, limits); err != nil {
		_ = cgroups.RemovePaths(paths)
		return nil, fmt.Errorf("control group: %w", err)
	}
	return g, nil
}

// createGroup creates the group's directory for each controller and writes the limits.
func (m *Manager) createGroup(g *Group, paths map[string]string, limits Limits) (err error) {
	for _, directory := range paths {
		if err := os.Mkdir(directory, 0o755); err != nil && !os.IsExist(err) {
			return err
		}
	}
	resources := limitedResources(limits, m.limitsSwap())
	config := &cgroups.Cgroup{Resources: resources}
	if m.version == 2 {
		g.manager, err = fs2.NewManager(config, cmp.Or(paths["memory"], paths["cpu"]))
	} else {
		g.manager, err = fs.NewManager(config, paths)
	}
	if err != nil {
		return err
	}
	return g.manager.Set(resources)
}

// limitsSwap reports whether the kernel can limit swap space. In version 1, this is an option of the kernel.
func (m *Manager) limitsSwap() bool {
	return m.version == 2 || cgroups.PathExists(filepath.Join(m.memory, "memory.memsw.limit_in_bytes"))
}

// AddProcess moves a process into the group.
func (g *Group) AddProcess(pid int) error {
	if g.manager == nil {
		return nil
	}
	if err := g.manager.AddPid("", pid); err != nil {
		return fmt.Errorf("control group: %w", err)
	}
	return nil
}

// View is a directory of the group and its location inside the container.
type View struct {
	// Source is the directory of the group; "" stands for an empty directory. Target is the path in the container.
	Source, Target string
}

// MemoryViews returns the mounts through which a container sees its memory limit and usage at the usual paths. It
// returns nil if memory is not limited.
func (g *Group) MemoryViews() []View {
	switch {
	case g.memory == "":
		return nil
	case g.version == 2:
		return []View{{g.memory, mountPoint}}
	}
	return []View{{"", mountPoint}, {g.memory, filepath.Join(mountPoint, "memory")}}
}

// OutOfMemory reports whether the kernel killed a process in the group because of the memory limit.
func (g *Group) OutOfMemory() bool {
	if g.memory == "" {
		return false
	}
	count, err := g.manager.OOMKillCount()
	return err == nil && count > 0
}

// Use is the measured use of a group. A field is nil if the group does not measure it.
type Use struct {
	CPUTime *time.Duration
	// MemoryBytes is the memory without the part of the page cache that the kernel can free at once, as in the kubelet's
	// working set.
	MemoryBytes *int64
	// PeakMemoryBytes is the maximum of the memory, without the part of the page cache that the kernel could free at once
	// when the use was measured.
	PeakMemoryBytes *int64
}

// ReadUse measures the use of all processes that are or were in the group.
func (g *Group) ReadUse() Use {
	var use Use
	if g.manager == nil {
		return use
	}
	stats, err := g.manager.GetStats()
	if err != nil {
		return use // the group was removed meanwhile
	}
	if g.measuresCPU {
		use.CPUTime = new(time.Duration(stats.CpuStats.CpuUsage.TotalUsage))
	}
	if g.measuresMemory {
		inactive := cmp.Or(stats.MemoryStats.Stats["total_inactive_file"], stats.MemoryStats.Stats["inactive_file"])
		use.MemoryBytes = new(int64(stats.MemoryStats.Usage.Usage - min(inactive, stats.MemoryStats.Usage.Usage)))
		use.PeakMemoryBytes = new(int64(stats.MemoryStats.Usage.MaxUsage - min(inactive, stats.MemoryStats.Usage.MaxUsage)))
	}
	return use
}

// RemoveGroup deletes the group. It retries for a second, because the kernel releases a group shortly after its last
// process has ended.
func (g *Group) RemoveGroup() {
	if g.manager != nil {
		_ = g.manager.Destroy()
	}
}

// GroupDirectories returns the directories of the cluster's groups. They must be stored for RemoveGroups, because a
// later process may be in another group and would not find them.
func (m *Manager) GroupDirectories() []string {
	var directories []string
	for _, directory := range []string{m.memory, m.cpu, m.accounting} {
		if directory != "" && !slices.Contains(directories, directory) {
			directories = append(directories, directory)
		}
	}
	return directories
}

// RemoveGroups deletes the directories and all groups below them.
func RemoveGroups(directories []string) {
	for _, directory := range directories {
		if !strings.HasPrefix(filepath.Base(directory), "vc-") || !strings.HasPrefix(directory, mountPoint+"/") {
			continue
		}
		groups, _ := filepath.Glob(filepath.Join(directory, "*", "cgroup.procs"))
		for _, file := range groups {
			_ = cgroups.RemovePath(filepath.Dir(file)) // one by one, so that a group that is still in use does not keep the others
		}
		_ = cgroups.RemovePath(directory)
	}
}
