package framework

// EmptyStamp changes whenever anything changes that the results cached in cycle.EmptyNodes depend on.
type EmptyStamp struct{ Epoch, Total, Labels, Foreign uint64 }

// FitAlone caches whether a gang would fit on nodes that no other gang uses.
type FitAlone struct {
	Gen            uint64 // generation of the gang
	Stamp          EmptyStamp
	Could, Decided bool
}
