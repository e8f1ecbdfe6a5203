// Package queues is the dashboard's screen of queues: the tree, what each queue holds of
// what it may, who waits in it in the scheduler's order, and how that was over time.
//
//	In:   snapshot.Queue rows, in the order of the tree
//	Out:  cells, effects; the text twin is what `vcctl queue tree` prints
//
// Numbers come from internal/share, as those of the command line do. The history begins
// when the screen is opened: nobody else keeps one.
package queues
