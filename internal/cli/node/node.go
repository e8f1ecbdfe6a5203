// Package node implements `vcctl node`. Its commands show the nodes' resources and how much of them is free, show
// which nodes are near each other, and cordon and drain nodes.
//
//	In:   Nodes, the pods on them, HyperNodes from the API server
//	Out:  tables and trees, some also for `vcctl top`; cordoned nodes, evicted pods
//
// Idle is the allocatable amount of a node minus the requests of its pods, as the scheduler counts it. It does not
// depend on actual usage.
package node

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// New returns `vcctl node` with all its verbs.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.Group(f, "node", "Show the resources of nodes; cordon and drain nodes", `
		Show the nodes as the scheduler sees them: their allocatable and idle resources, and
		the tree of HyperNodes, which describes which nodes are near each other. Cordon and
		drain nodes for maintenance.`, "nodes", "no")
	cmd.AddCommand(newList(f, list), newHyperNodes(f, hyperNodes), newCordon(f, cordon), newUncordon(f, cordon), newDrain(f, drainNodes))
	return cmd
}
