// Package nodes is the dashboard's screen of nodes: a list with what each has and what of
// it is in use, the pods on the node under the cursor, and a heat map of all nodes that
// fills the screen.
//
//	In:   snapshot.Node rows
//	Out:  cells, effects; the text twin is what `vcctl node list` prints
//
// Numbers come from internal/room, as those of the command line do. A cell of the heat
// map is a node; cells stand in the order of the topology, so that holes are seen as shapes.
package nodes
