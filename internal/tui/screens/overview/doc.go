// Package overview implements the dashboard's first screen: free capacity, its users, and pending jobs. A small number
// of nodes is shown as a matrix of allocatable and idle resources, a large number as a heat map.
//
//	In:   screen.Context
//	Out:  cells, effects; the same blocks as text
//
// Numbers come from the packages of the other screens: noderow, queuerow, jobrow.
package overview
