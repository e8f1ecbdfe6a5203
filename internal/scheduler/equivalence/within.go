package equivalence

// ScoreAt returns the score of the node at a rank. It returns false if the shape does not fit on the node. Nothing fits
// on a node that does not exist; its rank is negative.
func (r *Ranking) ScoreAt(rank int32) (points int32, ok bool) {
	if rank < 0 {
		return unfit, false
	}
	tree, leaf := r.findLeaf(rank)
	points = tree.leafValue(leaf)
	return points, points != unfit
}
