package podgroup

import "github.com/vc-batch/vc/internal/controllers/podgroup/plan"

// Package plan determines the PodGroup of a pod. These aliases are used in this package.
var (
	nameOf    = plan.GroupNameOf
	nameFor   = plan.GroupNameFor
	groupFor  = plan.GroupFor
	refreshed = plan.RefreshedGroup
	inherit   = plan.InheritAnnotations
	minMember = plan.MinMember
	differ    = plan.HaveDifferences
)
