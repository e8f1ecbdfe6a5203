package process

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// controlGroups is the directory of the control group file system.
const controlGroups = "/sys/fs/cgroup"

// OOMCounter counts the processes in this pod that the kernel killed because the pod's memory was exhausted. There is
// only one counter per pod, so a caller must claim new kills only if its own processes were killed.
type OOMCounter struct {
	mu      sync.Mutex // guards claimed
	claimed int
}

// NewOOMCounter returns a counter that ignores kills that have already happened.
func NewOOMCounter() *OOMCounter { return &OOMCounter{claimed: readOOMKills()} }

// ClaimKills returns the number of processes that have been killed since the last claim.
func (o *OOMCounter) ClaimKills() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := readOOMKills()
	fresh := max(0, now-o.claimed)
	o.claimed = now
	return fresh
}

// OOMText returns the message about killed processes. step identifies the step, for example 42.batch or 42.0. The first
// words of the message must not change, because programs search the output for them.
func OOMText(kills int, step string) string {
	events := "events"
	if kills == 1 {
		events = "event"
	}
	return fmt.Sprintf("error: Detected %d oom_kill %s in StepId=%s. The job ran out of memory; request more with --mem.", kills, events, step)
}

// FindOOMFiles is a variable so that tests can replace it, because they cannot exhaust the memory of a control group.
var FindOOMFiles = listOOMFiles

// readOOMKills returns the kernel's counter of kills in the control group of this process, or 0 if the counter cannot
// be read.
func readOOMKills() int {
	own, _ := os.ReadFile("/proc/self/cgroup")
	for _, file := range FindOOMFiles(string(own)) {
		if text, err := os.ReadFile(file); err == nil {
			return parseOOMKills(string(text))
		}
	}
	return 0
}

// listOOMFiles lists the files that may contain the counter. The files in the process's control group come before the
// files in the root of the container.
func listOOMFiles(own string) []string {
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

// parseOOMKills returns the oom_kill counter in the text of memory.events or memory.oom_control.
func parseOOMKills(text string) int {
	for line := range strings.Lines(text) {
		if value, is := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); is {
			n, _ := strconv.Atoi(value)
			return n
		}
	}
	return 0
}
