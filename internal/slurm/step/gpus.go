package step

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// countPerNode returns the number of accelerators that a step requires on each of its nodes. room is the number of
// accelerators per node. ok is false if a node can never provide the required number.
func (r *gpuRequest) countPerNode(counts []int, room int) (each []int, ok bool) {
	switch {
	case r.PerTask > 0:
		for _, tasks := range counts {
			each = append(each, tasks*r.PerTask)
		}
	case r.Total > 0:
		each = launchconfig.SpreadTasks(r.Total, len(counts), 0)
	default:
		each = launchconfig.RepeatCount(r.PerNode, len(counts))
	}
	return each, slices.Max(each) <= room
}

// countAccelerators returns the number of accelerators in a list such as 2, a100:2 or a100:2,v100:1.
func countAccelerators(list string) (int, bool) {
	total := 0
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word[strings.LastIndex(word, ":")+1:])
		if err != nil || n < 0 {
			return 0, false
		}
		total += n
	}
	return total, true
}

// parseGres returns the number of GPUs in the value of --gres, which contains entries such as gpu[:type][:count].
// Steps do not count other resources; they are returned in others.
func parseGres(list string) (count int, others []string, ok bool) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimPrefix(word, "gres/")
		name, rest, _ := strings.Cut(word, ":")
		name, number, equals := strings.Cut(name, "=")
		if equals {
			rest = number
		}
		switch {
		case name == "none":
		case name != "gpu":
			others = append(others, word)
		default:
			n, err := strconv.Atoi(rest[strings.LastIndex(rest, ":")+1:])
			if err != nil {
				n = 1 // the entry has no count, and possibly no type
			}
			if n < 0 {
				return 0, nil, false
			}
			count += n
		}
	}
	return count, others, true
}

func joinNumbers(list []int) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, ",")
}
