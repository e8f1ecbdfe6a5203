// Package noderow presents nodes in the dashboard: the level of a heat map cell, the grouping of nodes, and the total
// and free resources of all nodes. Overview and Nodes show the same numbers.
//
//	In:   snapshot.Node, a resource
//	Out:  widget.HeatGroup, sums, counts
//
// Pure.
package noderow
