package launchconfig

import (
	"fmt"
	"strconv"
	"strings"
)

// SpreadTasks returns the number of tasks for each node. If perNode is positive, each node gets perNode tasks until no
// tasks are left. Otherwise, the tasks are spread evenly, and the first nodes get one task more if necessary.
func SpreadTasks(tasks, nodes, perNode int) []int {
	counts := make([]int, nodes)
	for i := range counts {
		if perNode > 0 {
			counts[i] = min(perNode, tasks)
		} else {
			counts[i] = (tasks + nodes - i - 1) / (nodes - i)
		}
		tasks -= counts[i]
	}
	return counts
}

// FormatRunLength formats numbers as Slurm does: 8(x4), or 2(x3),1.
func FormatRunLength(counts []int) string {
	var parts []string
	for i := 0; i < len(counts); {
		end := i
		for end < len(counts) && counts[end] == counts[i] {
			end++
		}
		part := strconv.Itoa(counts[i])
		if end-i > 1 {
			part += fmt.Sprintf("(x%d)", end-i)
		}
		parts = append(parts, part)
		i = end
	}
	return strings.Join(parts, ",")
}

// RepeatCount returns a list that contains count once for each node.
func RepeatCount(count, nodes int) []int {
	counts := make([]int, nodes)
	for i := range counts {
		counts[i] = count
	}
	return counts
}
