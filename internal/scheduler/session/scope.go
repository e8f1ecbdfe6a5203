package session

import "github.com/vc-batch/vc/internal/model"

// Scope restricts the search for nodes to a domain. It fills the domain's leaves one after another, so that a gang
// uses as few of them as possible.
type Scope struct {
	Domain *model.Domain
	// Leaves lists the domain's leaves in the order in which they are filled.
	Leaves []*model.Domain
	// Now excludes resources that are being released.
	Now bool
	// full holds the leaves that had no node for a shape.
	full map[leafShape]bool
}

// ForgetFull drops the record of leaves that had no node. It is called when resources were freed.
func (sc *Scope) ForgetFull() {
	if sc != nil {
		sc.full = nil
	}
}

type leafShape struct {
	leaf  *model.Domain
	shape *model.Shape
	later bool
}
