// Package overview implements the dashboard's first screen: the free capacity, the queues that use the rest, and the
// pending jobs. A small number of nodes is shown as a matrix of allocatable and idle resources, a large number as a
// heat map.
//
//	In:   screen.Context
//	Out:  cells, effects; the same blocks as text
//
// The numbers come from the packages that the other screens use: noderow, queuerow and jobrow.
package overview
