package launch

import (
	"fmt"
	"strconv"
	"strings"
)

// Spread says how many of the tasks each of the nodes gets: perNode each as long as there are any, or, when perNode is 0, as evenly as it goes,
// the first nodes one more.
func Spread(tasks, nodes, perNode int) []int {
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

// RunLength writes numbers as Slurm does: 8(x4), or 2(x3),1.
func RunLength(counts []int) string {
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

// Repeat is the same number for each of the nodes.
func Repeat(count, nodes int) []int {
	counts := make([]int, nodes)
	for i := range counts {
		counts[i] = count
	}
	return counts
}
