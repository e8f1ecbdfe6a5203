package podgroup

import "github.com/vc-batch/vc/internal/controllers/podgroup/plan"

// Package plan decides which PodGroup a pod gets. These are its names here.
var (
	nameOf    = plan.NameOf
	nameFor   = plan.NameFor
	groupFor  = plan.GroupFor
	refreshed = plan.Refreshed
	inherit   = plan.Inherit
	minMember = plan.MinMember
	differ    = plan.Differ
)
