package cgroup

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/opencontainers/cgroups"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestLimitsAreWrittenForBothVersions(t *testing.T) {
	cgroups.TestMode = true // the directories below are not those of the kernel
	t.Cleanup(func() { cgroups.TestMode = false })
	resources := corev1.ResourceRequirements{
		Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
	}
	request := corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}
	version1 := map[string]string{"memory.limit_in_bytes": "9223372036854771712"}
	version2 := map[string]string{"cgroup.controllers": "cpu memory\n"}
	swap := map[string]string{"memory.memsw.limit_in_bytes": ""}
	cases := map[string]struct {
		version       int
		parent, group map[string]string // files that the kernel provides
		resources     corev1.ResourceRequirements
		want          map[string]string
	}{
		"version 1": {1, nil, version1, resources, map[string]string{
			"memory.limit_in_bytes": "75497472", "cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000", "cpu.shares": "512",
		}},
		"version 1 with swap accounting": {1, swap, version1, resources, map[string]string{
			"memory.limit_in_bytes": "75497472", "memory.memsw.limit_in_bytes": "75497472",
			"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000", "cpu.shares": "512",
		}},
		"version 2": {2, nil, version2, resources, map[string]string{
			"memory.max": "75497472", "memory.swap.max": "0", "cpu.max": "50000 100000", "cpu.weight": "20",
		}},
		"a request in version 2": {2, nil, version2, request, map[string]string{"cpu.weight": "79"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			group := filepath.Join(parent, "c")
			writeFiles(t, parent, c.parent)
			writeFiles(t, group, c.group)
			manager := &Manager{version: c.version, memory: parent, cpu: parent}
			if _, err := manager.NewLimitedGroup("c", LimitsOf(c.resources)); err != nil {
				t.Fatal(err)
			}
			got := readFiles(t, group)
			for file, value := range c.group {
				if got[file] == value {
					delete(got, file)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestWithoutControllersNoGroupIsCreated(t *testing.T) {
	limited := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}}
	for name, resources := range map[string]corev1.ResourceRequirements{"no limits": {}, "a limit without its controller": limited} {
		t.Run(name, func(t *testing.T) {
			group, err := (&Manager{version: 2}).NewLimitedGroup("c", LimitsOf(resources))
			if err != nil {
				t.Fatal(err)
			}
			if err := group.AddProcess(os.Getpid()); err != nil || group.OutOfMemory() || group.MemoryViews() != nil {
				t.Errorf("the group has effects: %v, %+v", err, group)
			}
			group.RemoveGroup()
		})
	}
}

func TestAGroupWhoseLimitsAreRejectedIsRemoved(t *testing.T) {
	cgroups.TestMode = true
	t.Cleanup(func() { cgroups.TestMode = false })
	parent := t.TempDir() // without the files of the kernel
	group, err := (&Manager{version: 2, memory: parent}).NewLimitedGroup("c", Limits{MemoryBytes: 1 << 20})
	if group != nil || err == nil || !strings.HasPrefix(err.Error(), "control group: ") {
		t.Errorf("got %v, %v", group, err)
	}
	if files := readFiles(t, parent); len(files) != 0 {
		t.Errorf("left: %v", files)
	}
}

func writeFiles(t *testing.T, directory string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readFiles(t *testing.T, directory string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(directory, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(text)
	}
	return files
}

func TestKernelKillsAboveTheLimit(t *testing.T) {
	manager := Open("test-" + t.TempDir())
	defer RemoveGroups(manager.GroupDirectories())
	if manager.memory == "" {
		t.Skip(manager.Missing)
	}
	group, err := manager.NewLimitedGroup("c", Limits{MemoryBytes: 16 << 20, MilliCPU: 1000})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("/bin/sh", "-c", "read go; x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo ${#x}")
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if err := group.AddProcess(command.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_, _ = stdin.Write([]byte("go\n"))
	if err := command.Wait(); err == nil {
		t.Error("200 MB fit into 16")
	}
	if !group.OutOfMemory() {
		t.Error("the kernel's kill was not noticed")
	}
	directories := maps.Clone(group.manager.GetPaths())
	group.RemoveGroup()
	for _, directory := range directories {
		if _, err := os.Stat(directory); err == nil {
			t.Errorf("%s is left", directory)
		}
	}
}

func TestReadUseMeasuresTheProcessesOfTheGroup(t *testing.T) {
	manager := Open("test-" + t.TempDir())
	defer RemoveGroups(manager.GroupDirectories())
	if manager.memory == "" || manager.cpu == "" {
		t.Skip(manager.Missing)
	}
	group, err := manager.NewLimitedGroup("c", Limits{MemoryBytes: 64 << 20, MilliCPU: 1000})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command("/bin/sh", "-c", "read go; x=$(head -c 10000000 /dev/zero | tr '\\0' x); i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo ready; read end")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if err := group.AddProcess(command.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_, _ = in.Write([]byte("go\n"))
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	use := group.ReadUse()
	if use.MemoryBytes == nil || *use.MemoryBytes < 10_000_000 || *use.MemoryBytes > 64<<20 {
		t.Errorf("memory: %v", use.MemoryBytes)
	}
	if use.PeakMemoryBytes == nil || *use.PeakMemoryBytes < 10_000_000 || *use.PeakMemoryBytes > 64<<20 {
		t.Errorf("peak of the memory: %v", use.PeakMemoryBytes)
	}
	if group.measuresCPU && (use.CPUTime == nil || *use.CPUTime < 20*time.Millisecond || *use.CPUTime > time.Minute) {
		t.Errorf("CPU time: %v", use.CPUTime)
	}
	_ = in.Close()
	_ = command.Wait()
	group.RemoveGroup()
	if empty := (&Group{}).ReadUse(); empty != (Use{}) {
		t.Errorf("a group without controllers measures %+v", empty)
	}
}
