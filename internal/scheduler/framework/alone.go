package framework

// EmptyStamp changes with everything that EmptyNodes depends on.
type EmptyStamp struct{ Epoch, Total, Labels, Foreign uint64 }

// FitAlone caches whether a gang fits on nodes where no other gang runs.
type FitAlone struct {
	Gen            uint64 // generation of the gang
	Stamp          EmptyStamp
	Could, Decided bool
}
