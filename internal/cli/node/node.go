// Package node is `vcctl node`: what the nodes have and what of it nobody has asked for,
// which nodes are near each other, and what an administrator does to nodes.
//
//	In:   Nodes, the pods on them, HyperNodes from the API server
//	Out:  tables and trees; rooms, which `vcctl top` shows as well; cordoned nodes, evicted pods
//
// Idle is what a node has minus what the pods on it ask for, as the scheduler counts it.
// It is not what they use.
package node

import (
	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// New returns `vcctl node` with all its verbs.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.Group(f, "node", "See what nodes have and have left; cordon and drain them", `
		Look at the nodes as the scheduler does: what each has, what of it is idle, and the
		tree of hypernodes that says which of them are near each other. Cordon and drain
		nodes for maintenance.`, "nodes", "no")
	cmd.AddCommand(newList(f, list), newHyperNodes(f, hyperNodes), newCordon(f, cordon), newUncordon(f, cordon), newDrain(f, drainNodes))
	return cmd
}
