package cgroup

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestSettings(t *testing.T) {
	limits := LimitsOf(corev1.ResourceRequirements{
		Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
	})
	got := map[string]string{}
	for _, version := range []int{1, 2} {
		for _, s := range append(memorySettings(version, limits), cpuSettings(version, limits)...) {
			got[s.file] = s.value
		}
	}
	want := map[string]string{
		"memory.limit_in_bytes": "75497472", "memory.memsw.limit_in_bytes": "75497472", "memory.max": "75497472", "memory.swap.max": "0",
		"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "50000", "cpu.max": "50000 100000", "cpu.shares": "512", "cpu.weight": "20",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if settings := append(memorySettings(1, Limits{}), cpuSettings(2, Limits{})...); len(settings) != 0 {
		t.Errorf("no limits give %v", settings)
	}
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
	group.RemoveGroup()
	for _, directory := range group.directories {
		if _, err := os.Stat(directory); err == nil {
			t.Errorf("%s is left", directory)
		}
	}
}
