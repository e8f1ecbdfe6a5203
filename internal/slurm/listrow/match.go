package listrow

import (
	"cmp"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

// MatchReference reports whether a reference refers to a job, and returns the elements to which it refers. If elements
// is nil, the reference refers to the whole job. The number of an element is the number of the array plus the position
// of the element, and the number of the array itself refers to the whole array.
func MatchReference(ref optionvalue.Job, job *batchv1alpha1.Job) (elements batchv1alpha1.Indices, ok bool) {
	if ref.ID == 0 {
		return ref.Elements, ref.Name == job.Name
	}
	id, numbered := batchv1alpha1.JobID(job)
	if !numbered {
		return nil, false
	}
	if id == ref.ID {
		return ref.Elements, true
	}
	all, _, isArray := batchv1alpha1.ElementsOf(job)
	position := ref.ID - id
	isElement := isArray && position >= 0 && position < int64(all.Count())
	if !isElement || len(ref.Elements) > 0 {
		return nil, false
	}
	element, found := all.At(int(position))
	return batchv1alpha1.Indices{{First: element, Last: element}}, found
}

// MatchesReference reports whether a reference refers to a row or to one of its elements.
func (r *Row) MatchesReference(ref optionvalue.Job) bool {
	elements, ok := MatchReference(ref, r.Job)
	if !ok || elements == nil {
		return ok
	}
	return r.IsArray() && r.Elements.Minus(elements).Count() < r.Elements.Count()
}

// NarrowElements reduces a folded row to the elements to which the references refer. It keeps all elements if there are
// no references, or if one of them refers to the whole array.
func (r *Row) NarrowElements(refs []optionvalue.Job) {
	if !r.Folded || len(refs) == 0 {
		return
	}
	var wanted batchv1alpha1.Indices
	for _, ref := range refs {
		elements, ok := MatchReference(ref, r.Job)
		if ok && elements == nil {
			return
		}
		wanted = wanted.Union(elements)
	}
	left := r.Elements.Minus(r.Elements.Minus(wanted))
	if first, ok := left.At(0); ok {
		all, _, _ := batchv1alpha1.ElementsOf(r.Job)
		r.Elements, r.Position = left, all.Position(first)
	}
}

// CompareByPlace compares rows by their places in their queues. Rows whose place is unknown come last.
func CompareByPlace(a, b *Row) int {
	one, other := a.QueuePlace(), b.QueuePlace()
	if (one == 0) != (other == 0) {
		return cmp.Compare(other, one)
	}
	return cmp.Compare(one, other)
}

// CompareByNumber compares rows by number and element. Rows without a number are compared by name.
func CompareByNumber(a, b *Row) int {
	numberA, _ := batchv1alpha1.JobID(a.Job)
	numberB, _ := batchv1alpha1.JobID(b.Job)
	return cmp.Or(cmp.Compare(numberA, numberB), cmp.Compare(a.Position, b.Position), cmp.Compare(a.Job.Namespace, b.Job.Namespace), cmp.Compare(a.Job.Name, b.Job.Name))
}
