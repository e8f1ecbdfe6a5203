package decision

// NodeDevices holds figures about the shared GPU cards of a node. If Cards is empty, the node no longer has any
// cards.
type NodeDevices struct {
	Node  string
	Cards []CardFigures
}

// CardFigures holds the amounts of a card that are in use.
type CardFigures struct {
	Card           string // uuid
	Shared         int64  // number of containers that share the card
	MemoryMiB      int64
	Cores          int64 // percent
	MemoryLimitMiB int64
	Pods           []PodOnCard
}

// PodOnCard holds the amounts of a card that a pod's container uses.
type PodOnCard struct {
	Pod              Object
	MemoryMiB, Cores int64
}
