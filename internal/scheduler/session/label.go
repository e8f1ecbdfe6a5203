package session

import "github.com/vc-batch/vc/internal/explain"

// NearLabel returns a node label that is similar to a label that no node has; "" if there is no similar one. The
// result is cached for the cycle.
func (s *Session) NearLabel(label string) string {
	near, known := s.nearLabels[label]
	if known {
		return near
	}
	near = explain.NearLabel(label, func(yield func(map[string]string) bool) {
		for _, id := range s.View.Order {
			if !yield(s.Cluster.Nodes.Info[id].Labels) {
				return
			}
		}
	})
	if s.nearLabels == nil {
		s.nearLabels = map[string]string{}
	}
	s.nearLabels[label] = near
	return near
}
