// Package queues implements the dashboard's queue screen: the tree of queues, how much of its bounds each queue uses,
// its pending jobs in the scheduler's order, and a history of these numbers.
//
//	In:   snapshot.Queue rows, in tree order
//	Out:  cells, effects; as text the output of `vcctl queue tree`
//
// The numbers come from internal/queueusage, as on the command line. The history comes from
// internal/tui/history.
package queues
