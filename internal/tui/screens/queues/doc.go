// Package queues implements the dashboard's screen of queues: the tree, the use of each queue relative to its bounds,
// its pending jobs in the scheduler's order, and a history of these numbers.
//
//	In:   snapshot.Queue rows, in tree order
//	Out:  cells, effects; as text the output of `vcctl queue tree`
//
// Numbers come from internal/queueusage, as on the command line. The history starts when the screen is opened, because no
// other component stores one.
package queues
