package equivalence

// ScoreAt returns the score of the node at a rank. It returns false if the shape does not fit on the node.
func (r *Ranking) ScoreAt(rank int32) (points int32, ok bool) {
	tree, leaf := r.findLeaf(rank)
	points = tree.leafValue(leaf)
	return points, points != unfit
}
