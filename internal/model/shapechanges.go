package model

import (
	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/resource"
)

func (c *Cluster) ensureShape(spec podshape.Spec) *Shape {
	key := spec.Key()
	if s, ok := c.shapes[key]; ok {
		return s
	}
	s := &Shape{ID: int32(len(c.Shapes)), Key: key, Spec: spec, Request: c.Resources.Request(spec.Requests)}
	s.BestEffort = s.Request.IsEmpty()
	s.Slow = spec.PodAffinity != nil || spec.PodAntiAffinity != nil || len(spec.Spread) > 0
	for _, t := range s.Request {
		if t.Value >= resource.MaxAmount {
			s.Impossible = true
		}
	}
	s.volumeClaims = podshape.VolumeClaims(spec.Attached)
	s.Plain = s
	if spec.Attached != nil {
		plain := spec
		plain.Attached, plain.Unsupported = nil, nil
		plain.ResetKey()
		s.Plain = c.ensureShape(plain)
		s.Plain.tasks++
	}
	s.readAffinity()
	if n := len(c.freeShapes); n > 0 {
		s.ID = c.freeShapes[n-1]
		c.freeShapes = c.freeShapes[:n-1]
		c.Shapes[s.ID] = s
	} else {
		c.Shapes = append(c.Shapes, s)
	}
	c.shapes[key] = s
	c.widenNodes()
	return s
}

// releaseShape removes a task from a shape, and deletes the shape once it has no tasks left. Its ID may then be
// reused for another shape.
func (c *Cluster) releaseShape(s *Shape) {
	s.tasks--
	if s.tasks == 0 {
		delete(c.shapes, s.Key)
		c.Shapes[s.ID] = nil
		c.freeShapes = append(c.freeShapes, s.ID)
	}
}

// ShapeWithKey returns the shape with the given key; nil if it does not exist.
func (c *Cluster) ShapeWithKey(key string) *Shape { return c.shapes[key] }
