package model

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/resource"
)

// ChangedCopy returns a copy of the shape with a changed spec or request. It is used to find out which change would
// help. The copy is not stored in the cluster, and no task refers to it. ChangedCopy returns false for shapes that cannot
// be placed anywhere, that attach volumes or devices, or that have rules about other pods.
func (s *Shape) ChangedCopy(change func(spec *podshape.Spec, request resource.Request) resource.Request) (*Shape, bool) {
	isUnusable := s.Impossible || s.MalformedAffinity != ""
	if isUnusable || s.Slow || s.Attached != nil {
		return nil, false
	}
	v := &Shape{ID: math.MaxInt32, Spec: s.Spec}
	v.ResetKey()
	v.Request = change(&v.Spec, append(resource.Request(nil), s.Request...))
	v.BestEffort = v.Request.IsEmpty()
	v.Key = v.Spec.Key()
	v.Plain = v
	v.readAffinity()
	return v, true
}

// IsChangedBy reports whether changing the shape's spec or request would result in a different shape.
func (s *Shape) IsChangedBy(change func(spec *podshape.Spec, request resource.Request) resource.Request) bool {
	before, after := s.Spec, s.Spec
	before.ResetKey()
	after.ResetKey()
	request := change(&after, slices.Clone(s.Request))
	return before.Key() != after.Key() || !slices.Equal(request, s.Request)
}

// WithoutVolumeClaims returns the shape without some of its volume claims. It is used to find out which claims
// prevent the placement. It returns the shape itself if keys is empty, and nil if the shape cannot be placed anywhere
// or its placement depends on other pods.
func (s *Shape) WithoutVolumeClaims(keys []string) *Shape {
	switch {
	case len(keys) == 0:
		return s
	case s.Slow || s.Impossible || s.MalformedAffinity != "":
		return nil
	}
	part := s.Attached.DeepCopy()
	part.Spec.Volumes = slices.DeleteFunc(part.Spec.Volumes, func(v corev1.Volume) bool {
		alone := corev1.Pod{ObjectMeta: part.ObjectMeta, Spec: corev1.PodSpec{Volumes: []corev1.Volume{v}}}
		return slices.ContainsFunc(podshape.VolumeClaims(&alone), func(key string) bool { return slices.Contains(keys, key) })
	})
	if len(part.Spec.Volumes)+len(part.Spec.ResourceClaims) == 0 {
		return s.Plain
	}
	v := &Shape{}
	*v = *s
	v.ID, v.Attached, v.tasks = math.MaxInt32, part, 0
	v.ResetKey()
	v.Key, v.volumeClaims = v.Spec.Key(), podshape.VolumeClaims(part)
	return v
}
