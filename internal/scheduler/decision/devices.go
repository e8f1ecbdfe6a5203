package decision

// NodeDevices are the shared cards of a node, for metrics. No cards: the node has none any more.
type NodeDevices struct {
	Node  string
	Cards []CardFigures
}

// CardFigures is what of a card is in use.
type CardFigures struct {
	Card           string // uuid
	Shared         int64  // containers that share it
	MemoryMiB      int64
	Cores          int64 // percent
	MemoryLimitMiB int64
	Pods           []PodOnCard
}

// PodOnCard is what a pod's container has of a card.
type PodOnCard struct {
	Pod              Object
	MemoryMiB, Cores int64
}
