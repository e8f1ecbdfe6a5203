package optionvalue

import (
	"fmt"
	"strconv"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// Array holds the elements of a job array, and the number of elements that may run at the same time.
type Array struct {
	Elements batchv1alpha1.Indices
	// Limit is the maximum number of elements that may run at the same time. 0 means no limit.
	Limit int32
}

// MaxArraySize is the limit for indices. All indices must be less than this number.
const MaxArraySize = batchv1alpha1.MaxElements

// String returns the array in the format that ParseArray accepts.
func (a Array) String() string {
	if a.Limit == 0 {
		return a.Elements.String()
	}
	return a.Elements.String() + "%" + strconv.Itoa(int(a.Limit))
}

// ParseArray parses a list of indices such as 0-15, 1,3,5-7 or 0-15:4, which may be followed by %n and be in brackets.
func ParseArray(text string) (Array, error) {
	const hint = "separate indices and ranges with commas, for example 0-15, 1,3,5-7 or 0-15:4; append %4 to run at most four tasks at the same time"
	if inner, opened := strings.CutPrefix(text, "["); opened {
		var closed bool
		if text, closed = strings.CutSuffix(inner, "]"); !closed {
			return Array{}, newError("add the missing closing bracket")
		}
	}
	list, limit, limited := strings.Cut(text, "%")
	var a Array
	if limited {
		n, ok := parseDigitsOnly(limit)
		if !ok || n > 1<<30 {
			return Array{}, newError("after %, specify how many tasks can run at the same time, for example 0-99%10")
		}
		a.Limit = int32(n)
	}
	if list == "" || strings.ContainsAny(list, " \t+") {
		return Array{}, newError(hint)
	}
	elements, err := batchv1alpha1.ParseIndices(list)
	if err != nil {
		return Array{}, newError(err.Error())
	}
	if last := elements[len(elements)-1].Last; last >= MaxArraySize {
		return Array{}, newError(fmt.Sprintf("indices must be less than %d, but the largest index is %d", MaxArraySize, last))
	}
	a.Elements = elements
	return a, nil
}
