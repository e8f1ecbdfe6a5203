package equivalence

// At returns the score of the node with a rank; false if the shape does not fit there.
func (r *Ranking) At(rank int32) (points int32, ok bool) {
	tree, leaf := r.place(rank)
	points = tree.at(leaf)
	return points, points != unfit
}
