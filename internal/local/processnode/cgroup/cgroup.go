package cgroup

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// mountPoint is the directory of the control group file system.
const mountPoint = "/sys/fs/cgroup"

// Manager creates the control groups of a cluster.
type Manager struct {
	version     int
	memory, cpu string // parent directories; "" if the controller is not available; equal in version 2
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
	if _, err := os.Stat(filepath.Join(mountPoint, "cgroup.controllers")); err == nil {
		m.version = 2
		m.memory, m.cpu = openUnified(name)
	} else {
		m.memory, m.cpu = openV1("memory", name), openV1("cpu", name)
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
	for _, parent := range []string{ownGroupPath(controller), "/"} {
		base := filepath.Join(mountPoint, controller, parent)
		if !isDirectory(base) {
			continue
		}
		directory := filepath.Join(base, name)
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

// ownGroupPath returns the path of this process in a version 1 hierarchy.
func ownGroupPath(controller string) string {
	file, err := os.Open("/proc/self/cgroup")
	if err != nil {
		return "/"
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.SplitN(lines.Text(), ":", 3)
		if len(fields) == 3 {
			for name := range strings.SplitSeq(fields[1], ",") {
				if name == controller {
					return fields[2]
				}
			}
		}
	}
	return "/"
}

// Group is the control group of a container.
type Group struct {
	version     int
	directories []string
	memory      string
}

// NewLimitedGroup creates a group with limits. If there are no limits, or none that can be enforced, the group is empty
// and has no effect.
func (m *Manager) NewLimitedGroup(name string, limits Limits) (*Group, error) {
	g := &Group{version: m.version}
	type part struct {
		parent   string
		settings []setting
	}
	parts := []part{{m.memory, memorySettings(m.version, limits)}, {m.cpu, cpuSettings(m.version, limits)}}
	for i, p := range parts {
		if p.parent == "" || len(p.settings) == 0 {
			continue
		}
		directory := filepath.Join(p.parent, name)
		if err := os.Mkdir(directory, 0o755); err != nil && !os.IsExist(err) {
			return g, fmt.Errorf("control group: %w", err)
		}
		if len(g.directories) == 0 || g.directories[0] != directory {
			g.directories = append(g.directories, directory)
		}
		if i == 0 {
			g.memory = directory
		}
		for _, s := range p.settings {
			if err := os.WriteFile(filepath.Join(directory, s.file), []byte(s.value), 0); err != nil && !s.optional {
				g.RemoveGroup()
				return nil, fmt.Errorf("control group: %w", err)
			}
		}
	}
	return g, nil
}

// AddProcess moves a process into the group.
func (g *Group) AddProcess(pid int) error {
	for _, directory := range g.directories {
		if err := os.WriteFile(filepath.Join(directory, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
			return fmt.Errorf("control group: %w", err)
		}
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

// OutOfMemory reports whether the kernel killed a process of the group because of its memory limit.
func (g *Group) OutOfMemory() bool {
	if g.memory == "" {
		return false
	}
	file := "memory.oom_control"
	if g.version == 2 {
		file = "memory.events"
	}
	text, err := os.ReadFile(filepath.Join(g.memory, file))
	return err == nil && parseCount(string(text), "oom_kill") > 0
}

func parseCount(text, key string) int64 {
	for line := range strings.SplitSeq(text, "\n") {
		name, value, _ := strings.Cut(line, " ")
		if name == key {
			count, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return count
		}
	}
	return 0
}

// RemoveGroup deletes the group. It retries, because the kernel releases a group shortly after its last process has
// ended.
func (g *Group) RemoveGroup() {
	for _, directory := range g.directories {
		removeDirectory(directory)
	}
}

func removeDirectory(directory string) {
	for wait := time.Millisecond; wait < time.Second; wait *= 2 {
		if err := os.Remove(directory); err == nil || os.IsNotExist(err) {
			return
		}
		time.Sleep(wait)
	}
}

// GroupDirectories returns the directories of the cluster's groups. They must be stored for RemoveGroups, because a
// later process may be in another group and would not find them.
func (m *Manager) GroupDirectories() []string {
	var directories []string
	for _, directory := range []string{m.memory, m.cpu} {
		if directory != "" {
			directories = append(directories, directory)
		}
	}
	return directories
}

// RemoveGroups deletes all groups below the directories.
func RemoveGroups(directories []string) {
	for _, directory := range directories {
		if !strings.HasPrefix(filepath.Base(directory), "vc-") || !strings.HasPrefix(directory, mountPoint+"/") {
			continue
		}
		entries, err := os.ReadDir(directory)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			if entry.IsDir() {
				removeDirectory(filepath.Join(directory, entry.Name()))
			}
		}
		removeDirectory(directory)
	}
}
