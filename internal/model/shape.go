package model

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Shape is a podshape.Spec with its requests as a sparse vector. All pods with equal specs have the same Shape.
type Shape struct {
	ID  int32
	Key string
	podshape.Spec
	Request resource.Request
	// BestEffort is true if the shape requests nothing but a pod slot.
	BestEffort bool
	// Impossible is true if the shape requests more of a resource than any node can ever have.
	Impossible bool
	// Slow is true for shapes with pod affinity or topology spread, whose placement depends on other pods.
	Slow bool
	// Required is the node selector and the required node affinity; nil if unset.
	Required *nodeaffinity.RequiredNodeAffinity
	// Preferred is the preferred node affinity; nil if unset.
	Preferred *nodeaffinity.PreferredSchedulingTerms
	// MalformedAffinity describes the error in an invalid affinity; "" if the affinity is valid. A shape with an
	// invalid affinity fits nowhere.
	MalformedAffinity string

	// Plain is the shape without its volumes and devices. If the shape has none, Plain is the shape itself.
	Plain *Shape

	volumeClaims []string
	tasks        int // live tasks of this shape
	inQueues     int // tasks of gangs that have this shape and have not ended, plus counted placements
}

// IsInQueues reports whether any gang has or expects a pod of this shape that has not ended.
func (s *Shape) IsInQueues() bool { return s.inQueues > 0 }

// readAffinity parses the shape's node selector and node affinity.
func (s *Shape) readAffinity() {
	affinity := s.NodeAffinity
	if affinity == nil {
		affinity = &corev1.NodeAffinity{}
	}
	required := affinity.RequiredDuringSchedulingIgnoredDuringExecution
	if len(s.NodeSelector) > 0 || required != nil {
		r := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: corev1.PodSpec{
			NodeSelector: s.NodeSelector, Affinity: &corev1.Affinity{NodeAffinity: affinity},
		}})
		s.Required = &r
	}
	if required != nil {
		if _, err := nodeaffinity.NewNodeSelector(required); err != nil {
			s.MalformedAffinity = err.Error()
		}
	}
	if preferred := affinity.PreferredDuringSchedulingIgnoredDuringExecution; len(preferred) > 0 {
		p, err := nodeaffinity.NewPreferredSchedulingTerms(preferred)
		if err != nil {
			s.MalformedAffinity = err.Error()
			return
		}
		s.Preferred = p
	}
}

// VolumeClaims returns the keys of the volume claims that pods of the shape use. The caller must not change the
// result.
func (s *Shape) VolumeClaims() []string { return s.volumeClaims }
