package drf

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/scheduler/queue"
)

// step is one group on the path to a queue.
type step struct {
	name   string
	weight float64
}

// annotatedPath returns the path to a queue as given by its annotations, starting below the root. Without annotations,
// the path consists of the queue itself.
func annotatedPath(q *queue.Queue) []step {
	names := strings.Split(q.Annotations[keys.Hierarchy], "/")
	weights := strings.Split(q.Annotations[keys.HierarchyWeights], "/")
	if names[0] == keys.RootQueue || names[0] == "" {
		names, weights = names[1:], weights[min(len(weights), 1):]
	}
	if len(names) == 0 {
		return []step{{q.Name, 1}}
	}
	steps := make([]step, len(names))
	for i, name := range names {
		steps[i] = step{name, 1}
		if i < len(weights) {
			if w, err := strconv.ParseFloat(weights[i], 64); err == nil && w >= 1 && w <= 1e9 {
				steps[i].weight = w
			}
		}
	}
	return steps
}

// weightContradictions returns warnings for queues that give a group a weight that is ignored, because another queue
// gives the group a different weight.
func weightContradictions(queues []*queue.Queue) map[*queue.Queue][]string {
	found, weights := map[*queue.Queue][]string{}, map[string]float64{}
	for _, q := range queues {
		path := ""
		for _, s := range annotatedPath(q) {
			path += "/" + s.name
			if first, known := weights[path]; !known {
				weights[path] = s.weight
			} else if first != s.weight {
				found[q] = append(found[q], fmt.Sprintf("%s: the weight of %s is %g, because another queue already sets this weight", keys.HierarchyWeights, s.name, first))
			}
		}
	}
	return found
}
