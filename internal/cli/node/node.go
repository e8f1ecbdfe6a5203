// Package node implements `vcctl node`. Its commands show the allocatable and idle resources of nodes, show which
// nodes are near each other, and cordon and drain nodes.
//
//	In:   Nodes, the pods on them, and HyperNodes from the API server
//	Out:  tables and trees, some of them also for `vcctl top`; cordoned nodes, evicted pods
//
// The idle resources of a node are its allocatable resources minus the requests of its pods, as computed by the
// scheduler. They do not depend on actual usage.
package node

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// New returns `vcctl node` with all its verbs.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.NewCommandGroup(f, "node", "Show the resources of nodes; cordon and drain nodes", `
		Show the nodes as the scheduler sees them: their allocatable and idle resources, and
		the tree of HyperNodes, which shows which nodes are near each other. Cordon and
		drain nodes for maintenance.`, "nodes", "no")
	cmd.AddCommand(newList(f, listNodes), newHyperNodes(f, listHyperNodes), newCordon(f, cordonNodes), newUncordon(f, cordonNodes), newDrain(f, drainNodes))
	return cmd
}
