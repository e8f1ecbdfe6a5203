// Package noderow is nodes as the dashboard shows them: how full a cell of a heat map
// is, which nodes stand together, what all nodes have and have left. Overview and
// Nodes show the same numbers.
//
//	In:   snapshot.Node, a resource
//	Out:  widget.HeatGroup, sums, counts
//
// Pure.
package noderow
