package equivalence

// At returns the score of the node at a rank. It returns false if the shape does not fit on the node.
func (r *Ranking) At(rank int32) (points int32, ok bool) {
	tree, leaf := r.place(rank)
	points = tree.at(leaf)
	return points, points != unfit
}
