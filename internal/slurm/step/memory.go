package step

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// controlGroups is where containers find their control group.
const controlGroups = "/sys/fs/cgroup"

// signalNoMemory is the number that Slurm gives for the end of what used too much memory.
const signalNoMemory = 125

// oomKills counts the processes of this pod that the kernel killed because the pod's memory was used up. The counter is one for all, so whoever
// claims what is new must know that it is theirs.
type oomKills struct {
	read    func() int
	mu      sync.Mutex // guards claimed
	claimed int
}

// claim returns how many processes were killed since the last claim.
func (o *oomKills) claim() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.read == nil {
		return 0
	}
	now := o.read()
	fresh := max(0, now-o.claimed)
	o.claimed = now
	return fresh
}

// noMemory is the line about processes that were killed: step is 42.batch or 42.0. Programs look for its first words.
func noMemory(kills int, step string) string {
	events := "events"
	if kills == 1 {
		events = "event"
	}
	return fmt.Sprintf("error: Detected %d oom_kill %s in StepId=%s. More memory was used than the job has; ask for more with --mem.", kills, events, step)
}

// findOOMFiles is replaced by tests, which have no control group to use up.
var findOOMFiles = oomFiles

// readOOMKills reads the kernel's counter for the control group of this process; 0 where it cannot be seen.
func readOOMKills() int {
	own, _ := os.ReadFile("/proc/self/cgroup")
	for _, file := range findOOMFiles(string(own)) {
		if text, err := os.ReadFile(file); err == nil {
			return oomKillsIn(string(text))
		}
	}
	return 0
}

// oomFiles lists where the counter may be: by the path of the process's group where the container sees that, else in the container's own root.
func oomFiles(own string) []string {
	var files []string
	for line := range strings.Lines(own) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(fields) < 3:
		case fields[1] == "":
			files = append(files, filepath.Join(controlGroups, fields[2], "memory.events"))
		case fields[1] == "memory":
			files = append(files, filepath.Join(controlGroups, "memory", fields[2], "memory.oom_control"))
		}
	}
	return append(files, filepath.Join(controlGroups, "memory.events"), filepath.Join(controlGroups, "memory", "memory.oom_control"))
}

// oomKillsIn reads the counter oom_kill out of memory.events or memory.oom_control.
func oomKillsIn(text string) int {
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); is {
			n, _ := strconv.Atoi(value)
			return n
		}
	}
	return 0
}
