package srun

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/step/signals"
)

// gatherTime is the time for which failures of the same kind are collected before they are reported in a single line.
const gatherTime = 100 * time.Millisecond

// failures reports failed tasks. It prints one line for each host and kind of failure.
type failures struct {
	to    io.Writer
	quiet bool

	mu    sync.Mutex // guards the fields below
	order []failure
	ranks map[failure][]int
	timer *time.Timer
}

type failure struct{ host, how string }

func newFailures(to io.Writer, quiet bool) *failures {
	return &failures{to: to, quiet: quiet, ranks: map[failure][]int{}}
}

func (f *failures) addFailure(host string, rank int, e protocol.Ending) {
	if e.ShellStatus() == 0 || f.quiet {
		return
	}
	how := fmt.Sprintf("Exited with exit code %d", e.Code)
	if e.Signal != 0 {
		how = signals.Describe(e.Signal)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := failure{host, how}
	if _, there := f.ranks[key]; !there {
		f.order = append(f.order, key)
	}
	f.ranks[key] = append(f.ranks[key], rank)
	if f.timer == nil {
		f.timer = time.AfterFunc(gatherTime, f.printFailures)
	}
}

func (f *failures) printFailures() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range f.order {
		ranks := f.ranks[key]
		slices.Sort(ranks)
		word := "task"
		if len(ranks) > 1 {
			word = "tasks"
		}
		fmt.Fprintf(f.to, "srun: error: %s: %s %s: %s\n", key.host, word, formatRanks(ranks), key.how)
	}
	f.order, f.ranks, f.timer = nil, map[failure][]int{}, nil
}

// formatRanks formats sorted ranks as ranges, such as 0-3,5.
func formatRanks(ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		end := i
		for end+1 < len(ranks) && ranks[end+1] == ranks[end]+1 {
			end++
		}
		part := strconv.Itoa(ranks[i])
		if end > i {
			part += "-" + strconv.Itoa(ranks[end])
		}
		parts, i = append(parts, part), end+1
	}
	return strings.Join(parts, ",")
}
