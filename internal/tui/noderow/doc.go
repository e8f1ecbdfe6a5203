// Package noderow presents nodes in the dashboard. It determines the level of a heat map cell, groups nodes, and sums
// up the total and free resources of all nodes. Overview and Nodes show the same numbers.
//
//	In:   snapshot.Node, a resource
//	Out:  widget.HeatGroup, sums, counts
//
// Pure.
package noderow
