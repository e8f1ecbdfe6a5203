package v1alpha1

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Indices is a set of small integers, which are the elements of an array. It consists of sorted runs that neither
// touch nor overlap, so that ten thousand consecutive numbers need no more memory than one number.
//
// +kubebuilder:object:generate=false
type Indices []Run

// Run is the range of numbers from First to Last.
//
// +kubebuilder:object:generate=false
type Run struct{ First, Last int32 }

// MaxIndex is the largest number that a set may contain, and MaxElements is the maximum number of elements of an
// array. These limits ensure that a formatted set fits into a job's status.
const (
	MaxIndex    = 1_000_000
	MaxElements = 10_001
)

// ParseIndices parses a set: numbers and ranges, which may have a step, separated by commas, for example 0,4,8-12 or
// 0-15:4. Numbers may be repeated and may be in any order. An empty text is the empty set.
func ParseIndices(text string) (Indices, error) {
	if text == "" {
		return nil, nil
	}
	var runs Indices
	count := 0
	for _, part := range strings.Split(text, ",") {
		first, last, step, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if step == 1 {
			runs = append(runs, Run{first, last})
			continue
		}
		if count += int(last-first)/int(step) + 1; count > MaxIndex {
			return nil, fmt.Errorf("%q has more than %d numbers", text, MaxIndex)
		}
		for i := first; i <= last; i += step {
			runs = append(runs, Run{i, i})
		}
	}
	return merge(runs), nil
}

// parseRange parses n, n-m or n-m:step.
func parseRange(part string) (first, last, step int32, err error) {
	span, by, stepped := strings.Cut(part, ":")
	from, to, ranged := strings.Cut(span, "-")
	if first, err = parseIndex(from); err != nil {
		return 0, 0, 0, err
	}
	last, step = first, 1
	if ranged {
		if last, err = parseIndex(to); err != nil {
			return 0, 0, 0, err
		}
	}
	if stepped {
		if step, err = parseIndex(by); err != nil {
			return 0, 0, 0, err
		}
	}
	switch {
	case stepped && !ranged:
		return 0, 0, 0, fmt.Errorf("%q has a step but no range: use a format such as 0-15:4", part)
	case step == 0:
		return 0, 0, 0, fmt.Errorf("%q has the step 0", part)
	case last < first:
		return 0, 0, 0, fmt.Errorf("%q runs backwards: write %d-%d", part, last, first)
	}
	return first, last, step, nil
}

func parseIndex(text string) (int32, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number: use comma-separated numbers and ranges, such as 0,4,8-12 or 0-15:4", text)
	}
	if n > MaxIndex {
		return 0, fmt.Errorf("index %d is larger than the maximum of %d", n, MaxIndex)
	}
	return int32(n), nil
}

// IndicesOf returns the set of the numbers. It sorts the slice in place.
func IndicesOf(numbers []int32) Indices {
	slices.Sort(numbers)
	var runs Indices
	for _, n := range numbers {
		if last := len(runs) - 1; last >= 0 && n <= runs[last].Last+1 {
			runs[last].Last = n
			continue
		}
		runs = append(runs, Run{n, n})
	}
	return runs
}

// merge sorts the runs and joins runs that touch or overlap.
func merge(runs Indices) Indices {
	slices.SortFunc(runs, func(a, b Run) int { return int(a.First) - int(b.First) })
	merged := runs[:0]
	for _, r := range runs {
		if last := len(merged) - 1; last >= 0 && r.First <= merged[last].Last+1 {
			merged[last].Last = max(merged[last].Last, r.Last)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// String formats the set in the notation of ParseIndices, as briefly as possible without steps.
func (s Indices) String() string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(r.First)))
		if r.Last > r.First {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(int(r.Last)))
		}
	}
	return b.String()
}

// Count returns the number of elements in the set.
func (s Indices) Count() int {
	n := 0
	for _, r := range s {
		n += int(r.Last-r.First) + 1
	}
	return n
}

// Has reports whether n is in the set.
func (s Indices) Has(n int32) bool {
	_, found := slices.BinarySearchFunc(s, n, func(r Run, n int32) int {
		switch {
		case r.Last < n:
			return -1
		case r.First > n:
			return 1
		}
		return 0
	})
	return found
}

// All returns an iterator over the numbers in ascending order.
func (s Indices) All() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, r := range s {
			for n := r.First; n <= r.Last; n++ {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// At returns the number at a position, counting from 0. ok is false if the set has fewer numbers.
func (s Indices) At(position int) (n int32, ok bool) {
	for _, r := range s {
		size := int(r.Last-r.First) + 1
		if position < size {
			return r.First + int32(position), position >= 0
		}
		position -= size
	}
	return 0, false
}

// Position returns the position of a number in the set, counting from 0. It returns -1 if the number is not in the
// set.
func (s Indices) Position(n int32) int {
	before := 0
	for _, r := range s {
		switch {
		case n < r.First:
			return -1
		case n <= r.Last:
			return before + int(n-r.First)
		}
		before += int(r.Last-r.First) + 1
	}
	return -1
}

// Positions returns an iterator over the positions, in this set, of the numbers in another set, in ascending order.
func (s Indices) Positions(other Indices) iter.Seq[int] {
	return func(yield func(int) bool) {
		before, next := 0, 0
		for _, r := range s {
			for next < len(other) && other[next].Last < r.First {
				next++
			}
			for i := next; i < len(other) && other[i].First <= r.Last; i++ {
				for n := max(r.First, other[i].First); n <= min(r.Last, other[i].Last); n++ {
					if !yield(before + int(n-r.First)) {
						return
					}
				}
			}
			before += int(r.Last-r.First) + 1
		}
	}
}

// Union returns the union of two sets.
func (s Indices) Union(other Indices) Indices {
	return merge(slices.Concat(s, other))
}

// Minus returns the numbers in this set that are not in the other.
func (s Indices) Minus(other Indices) Indices {
	var left Indices
	for _, r := range s {
		first := r.First
		for _, o := range other {
			if o.Last < first {
				continue
			}
			if o.First > r.Last {
				break
			}
			if o.First > first {
				left = append(left, Run{first, o.First - 1})
			}
			first = o.Last + 1
		}
		if first <= r.Last {
			left = append(left, Run{first, r.Last})
		}
	}
	return left
}
