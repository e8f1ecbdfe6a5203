// Package nodes implements the dashboard's node screen: a list with the total and used resources of each node, the
// pods on the node under the cursor, and a full-screen heat map of all nodes.
//
//	In:   snapshot.Node rows
//	Out:  cells, effects; as text the output of `vcctl node list`
//
// The numbers come from internal/nodecapacity, as on the command line. Each cell of the heat map is a node. The cells
// follow the topology, so that gaps are visible as shapes.
package nodes
