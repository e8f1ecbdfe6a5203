package shape

// At is the score of the node with a rank; false when it does not fit.
func (r *Ranking) At(rank int32) (points int32, ok bool) {
	tree, leaf := r.place(rank)
	points = tree.at(leaf)
	return points, points != unfit
}
