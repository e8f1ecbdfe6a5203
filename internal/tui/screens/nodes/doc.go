// Package nodes implements the dashboard's screen of nodes: a list with the total and used resources of each node, the
// pods on the node under the cursor, and a full-screen heat map of all nodes.
//
//	In:   snapshot.Node rows
//	Out:  cells, effects; as text the output of `vcctl node list`
//
// Numbers come from internal/nodecapacity, as on the command line. A cell of the heat map is a node. The cells follow the
// topology, so that gaps are visible as shapes.
package nodes
