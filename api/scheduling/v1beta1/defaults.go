package v1beta1

import (
	"strings"

	"github.com/vc-batch/vc/api/keys"
)

// DefaultQueue fills in what a Queue leaves open.
func DefaultQueue(q *Queue) {
	if q.Spec.Weight == 0 {
		q.Spec.Weight = 1
	}
	if q.Spec.Reclaimable == nil {
		q.Spec.Reclaimable = new(true)
	}
	defaultHierarchy(q)
}

// defaultHierarchy puts the root before a path of the old hierarchy annotations that does not begin with it.
func defaultHierarchy(q *Queue) {
	path, weights := q.Annotations[keys.Hierarchy], q.Annotations[keys.HierarchyWeights]
	if path == "" || weights == "" || path == keys.RootQueue || strings.HasPrefix(path, keys.RootQueue+"/") {
		return
	}
	q.Annotations[keys.Hierarchy] = keys.RootQueue + "/" + path
	q.Annotations[keys.HierarchyWeights] = "1/" + weights
}

// DefaultPodGroup fills in what a PodGroup leaves open. namespaceQueue is the queue that the namespace names in its
// annotation, or empty; it takes the place of the default queue only.
func DefaultPodGroup(pg *PodGroup, namespaceQueue string) {
	if pg.Spec.Queue == "" {
		pg.Spec.Queue = keys.DefaultQueue
	}
	if pg.Spec.Queue == keys.DefaultQueue && namespaceQueue != "" {
		pg.Spec.Queue = namespaceQueue
	}
}
