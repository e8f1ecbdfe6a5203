package process

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheKernelsCounterIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own  string
		want []string
	}{
		"version 2":              {"0::/kubepods/pod1/c\n", []string{"/sys/fs/cgroup/kubepods/pod1/c/memory.events"}},
		"version 1":              {"9:name=systemd:/\n8:memory:/vc/c\n", []string{"/sys/fs/cgroup/memory/vc/c/memory.oom_control"}},
		"no control groups here": {"", nil},
	} {
		want := append(c.want, "/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")
		if diff := cmp.Diff(want, listOOMFiles(c.own)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for text, want := range map[string]int{"low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 0\n": 3, "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n": 1, "": 0} {
		if got := parseOOMKills(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
