package podgroup

import "github.com/vc-batch/vc/internal/controllers/podgroup/plan"

// Package plan determines the PodGroup of a pod. These aliases are used in this package.
var (
	nameOf    = plan.NameOf
	nameFor   = plan.NameFor
	groupFor  = plan.GroupFor
	refreshed = plan.Refreshed
	inherit   = plan.Inherit
	minMember = plan.MinMember
	differ    = plan.Differ
)
