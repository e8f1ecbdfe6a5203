package model

import "math"

// Variant is a shape like another but for a change of its spec or its request,
// for trying what would help. No task has it and the cluster does not know it.
// Shapes that attach something or have rules about other pods have none.
func (s *Shape) Variant(change func(spec *ShapeSpec, request Request) Request) (*Shape, bool) {
	if s.Slow || s.Attached != nil || s.Impossible || s.MalformedAffinity != "" {
		return nil, false
	}
	v := &Shape{ID: math.MaxInt32, ShapeSpec: s.ShapeSpec}
	v.key = ""
	v.Request = change(&v.ShapeSpec, append(Request(nil), s.Request...))
	v.BestEffort = v.Request.Empty()
	v.Key = v.ShapeSpec.Key()
	v.Plain = v
	v.readAffinity()
	return v, true
}
