package cycle

import (
	"slices"

	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// templatesFit reports whether the pods of a gang that has none yet would find nodes if no gang ran, counting each
// task as if there were no others. It returns true if this is unknown.
func (s *Cycle) templatesFit(j *framework.Job) bool {
	if len(j.Tasks) > 0 || j.PlacementShape("") == nil || len(s.View.Order) == 0 {
		return true
	}
	stamp := s.syncEmptyNodes()
	if k := &j.Alone; k.Gen != j.Gen || k.Stamp != stamp || !k.Decided {
		*k = framework.FitAlone{Gen: j.Gen, Stamp: stamp, Could: s.countTemplates(j), Decided: true}
	}
	return j.Alone.Could
}

func (s *Cycle) countTemplates(j *framework.Job) bool {
	list, exact := j.PodTemplates()
	if !exact {
		return true
	}
	return !slices.ContainsFunc(list, func(d framework.Template) bool { return s.countEmptySlots(d.Placements, d.Request) < d.Count })
}
