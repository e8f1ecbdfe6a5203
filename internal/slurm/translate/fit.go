package translate

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Node is a node that takes pods.
type Node struct {
	// Group is its node group, "" where it has none.
	Group       string
	Allocatable corev1.ResourceList
}

// fewest is how few pods a job has so that each of them fits onto some node of its queue; most is one task, or one GPU, a pod. Where the nodes are not known it is one pod.
func (b *builder) fewest(most int64) int {
	have := b.rooms()
	if len(have) == 0 {
		if most > 1 {
			b.notes = append(b.notes, "the cluster's nodes are not known: all tasks are in one pod; say with --nodes how many there are to be")
		}
		return 1
	}
	if len(b.r.Nodelist) > 0 {
		most = min(most, int64(len(b.r.Nodelist)))
	}
	limit := int(min(most, maxNodes))
	largest := limit
	for n := 1; n <= limit; n++ {
		s, uneven := b.sizeOn(n)
		if uneven != nil {
			continue
		}
		if largest = n; slices.ContainsFunc(have, func(room corev1.ResourceList) bool { return b.fits(&s, room) }) {
			break
		}
	}
	if largest > 1 && b.r.Verbose > 0 {
		b.notes = append(b.notes, fmt.Sprintf("no node of queue %s has room for all of it, so %d nodes", b.job.Spec.Queue, largest))
	}
	return largest
}

// rooms are what the different nodes of the queue have.
func (b *builder) rooms() []corev1.ResourceList {
	admits := func(string) bool { return true }
	for _, q := range b.Facts.Queues {
		if q.Name == b.job.Spec.Queue && q.Admits != nil {
			admits = q.Admits
		}
	}
	var all []corev1.ResourceList
	for _, n := range b.Facts.Nodes {
		if admits(n.Group) {
			all = append(all, n.Allocatable)
		}
	}
	return all
}

// fits says whether a pod of this size has room on an empty node. A resource that no node has asks for nothing: nodes with it may come.
func (b *builder) fits(s *size, room corev1.ResourceList) bool {
	for name, asked := range b.amounts(s) {
		if have := room[name]; asked.Cmp(have) > 0 && b.anywhere(name) {
			return false
		}
	}
	return true
}

// anywhere says whether some node has a resource.
func (b *builder) anywhere(name corev1.ResourceName) bool {
	return slices.ContainsFunc(b.Facts.Nodes, func(n Node) bool {
		amount, has := n.Allocatable[name]
		return has && amount.Sign() > 0
	})
}
