package decision

// NodeDevices holds the shared cards of a node, for metrics. Without cards, the node no longer has any.
type NodeDevices struct {
	Node  string
	Cards []CardFigures
}

// CardFigures holds the used parts of a card.
type CardFigures struct {
	Card           string // uuid
	Shared         int64  // containers that share it
	MemoryMiB      int64
	Cores          int64 // percent
	MemoryLimitMiB int64
	Pods           []PodOnCard
}

// PodOnCard holds the parts of a card that a pod's container uses.
type PodOnCard struct {
	Pod              Object
	MemoryMiB, Cores int64
}
