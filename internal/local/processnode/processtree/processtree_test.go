package processtree

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestUseBelowCountsAllDescendantsButNotTheProcessItself(t *testing.T) {
	t.Parallel()
	tree := newTree([]process{
		{pid: 1, parent: 0, ownTicks: 1000, memoryBytes: 1 << 30},
		{pid: 10, parent: 1, ownTicks: 500, reapedTicks: 20, memoryBytes: 1 << 20}, // the init of a container
		{pid: 11, parent: 10, ownTicks: 100, reapedTicks: 30, memoryBytes: 2 << 20},
		{pid: 12, parent: 11, ownTicks: 50, memoryBytes: 4 << 20},
		{pid: 13, parent: 10, ownTicks: 1, memoryBytes: 8 << 20},
		{pid: 20, parent: 1, ownTicks: 7000, memoryBytes: 1 << 30}, // another container
	})
	for pid, want := range map[int]Use{
		10: {CPUTime: 2010 * time.Millisecond, MemoryBytes: 14 << 20},
		11: {CPUTime: 800 * time.Millisecond, MemoryBytes: 4 << 20},
		12: {},
		99: {},
	} {
		if got := tree.UseBelow(pid); got != want {
			t.Errorf("below %d: %+v, want %+v", pid, got, want)
		}
	}
}

// TestReadMeasuresRealProcesses starts a shell that uses CPU in a child and waits.
func TestReadMeasuresRealProcesses(t *testing.T) {
	t.Parallel()
	command := exec.Command("sh", "-c", `(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done); echo done; read line`)
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
	if _, err := out.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	tree, err := Read()
	if err != nil {
		t.Fatal(err)
	}
	all, shell := tree.UseBelow(os.Getpid()), tree.UseBelow(command.Process.Pid)
	if all.CPUTime < 20*time.Millisecond || shell.CPUTime < 20*time.Millisecond || all.MemoryBytes < 100<<10 {
		t.Errorf("below this process %+v, below the shell %+v", all, shell)
	}
	_ = in.Close()
	_ = command.Wait()
}
