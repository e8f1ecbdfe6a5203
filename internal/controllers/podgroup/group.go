package podgroup

import "github.com/vc-batch/vc/internal/controllers/podgroup/plan"

// Aliases for functions of package plan, which determines the PodGroup of a pod.
var (
	nameOf    = plan.GroupNameOf
	nameFor   = plan.GroupNameFor
	groupFor  = plan.GroupFor
	refreshed = plan.RefreshedGroup
	inherit   = plan.InheritAnnotations
	minMember = plan.MinMember
	differ    = plan.HaveDifferences
)
