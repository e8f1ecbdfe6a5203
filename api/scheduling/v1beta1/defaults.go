package v1beta1

import (
	"cmp"
	"strings"

	"github.com/vc-batch/vc/api/keys"
)

// DefaultQueue sets the defaults of a Queue.
func DefaultQueue(q *Queue) {
	q.Spec.Weight = cmp.Or(q.Spec.Weight, 1)
	if q.Spec.Reclaimable == nil {
		q.Spec.Reclaimable = new(true)
	}
	defaultHierarchy(q)
}

// defaultHierarchy adds root to the beginning of a path in the old hierarchy annotations if it is missing.
func defaultHierarchy(q *Queue) {
	path, weights := q.Annotations[keys.Hierarchy], q.Annotations[keys.HierarchyWeights]
	if path == "" || weights == "" {
		return
	}
	if path == keys.RootQueue || strings.HasPrefix(path, keys.RootQueue+"/") {
		return
	}
	q.Annotations[keys.Hierarchy] = keys.RootQueue + "/" + path
	q.Annotations[keys.HierarchyWeights] = "1/" + weights
}

// DefaultPodGroup sets the defaults of a PodGroup. namespaceQueue is the queue that the namespace's annotation
// specifies, or "". It is used instead of the default queue.
func DefaultPodGroup(pg *PodGroup, namespaceQueue string) {
	pg.Spec.Queue = cmp.Or(pg.Spec.Queue, keys.DefaultQueue)
	if pg.Spec.Queue == keys.DefaultQueue && namespaceQueue != "" {
		pg.Spec.Queue = namespaceQueue
	}
}
