// Package overview is the dashboard's first screen: is there room, who holds it, what
// waits. Few nodes are a matrix of what is allocatable and idle, many a heat map.
//
//	In:   screen.Context
//	Out:  cells, effects; the text twin has the same blocks
//
// Numbers come from where the other screens have them from: noderow, queuerow, jobrow.
package overview
