package optionvalue

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// Job is a reference to a job on the command line. It consists of a number or a name, and may also specify elements of
// an array or a step.
type Job struct {
	// ID is the number of the job. If it is 0, Name identifies the job.
	ID   int64
	Name string
	// Elements lists elements of an array. If it is empty, the reference refers to the whole job.
	Elements batchv1alpha1.Indices
	// Step is the part after the dot, such as 0 or batch. It is empty if the reference refers to the whole job.
	Step string
}

// String returns the reference in the format that ParseJob accepts.
func (j Job) String() string {
	text := j.Name
	if j.ID > 0 {
		text = batchv1alpha1.FormatJobID(j.ID)
	}
	switch n := j.Elements.Count(); {
	case n == 1:
		text += "_" + strconv.Itoa(int(j.Elements[0].First))
	case n > 1:
		text += "_[" + j.Elements.String() + "]"
	}
	if j.Step != "" {
		text += "." + j.Step
	}
	return text
}

// ParseJob parses a reference such as 42, 42_7, 42_[1-3,9], 42.0 or 42_7.batch. A name may replace the number.
func ParseJob(text string) (Job, error) {
	const hint = "specify a job number such as 42; for tasks of an array, append _7 or _[1-3,9]"
	var j Job
	rest := text
	if first := strings.IndexFunc(text, func(r rune) bool { return r < '0' || r > '9' }); first != 0 && text != "" {
		// A dot may be part of a name, but after a number it separates the step.
		number := rest
		if first > 0 && (text[first] == '_' || text[first] == '.') {
			number, rest = text[:first], text[first:]
		} else if first < 0 {
			rest = ""
		}
		if id, ok := batchv1alpha1.ParseJobID(number); ok {
			j.ID = id
			return j.parseSuffix(rest, hint)
		}
		rest = text
	}
	name, elements, ofArray := strings.Cut(rest, "_")
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return Job{}, newError(hint)
	}
	j.Name = name
	if !ofArray {
		return j, nil
	}
	return j.parseSuffix("_"+elements, hint)
}

// parseSuffix parses the text after the number or name.
func (j Job) parseSuffix(rest, hint string) (Job, error) {
	elements, step, hasStep := strings.Cut(rest, ".")
	if hasStep {
		if step == "" || strings.Trim(step, "0123456789abcdefghijklmnopqrstuvwxyz+") != "" {
			return Job{}, newError(hint)
		}
		j.Step = step
	}
	if elements == "" {
		return j, nil
	}
	list, ok := strings.CutPrefix(elements, "_")
	if inner, opened := strings.CutPrefix(list, "["); opened {
		list, ok = strings.CutSuffix(inner, "]")
	} else if _, isNumber := parseDigitsOnly(list); !isNumber {
		ok = false
	}
	indices, err := batchv1alpha1.ParseIndices(list)
	if err != nil || !ok || len(indices) == 0 {
		return Job{}, newError(hint)
	}
	j.Elements = indices
	return j, nil
}

// ParseJobs parses a comma-separated list of jobs. Commas within brackets belong to the list of elements.
func ParseJobs(text string) ([]Job, error) {
	var all []Job
	depth, start := 0, 0
	for at := 0; at <= len(text); at++ {
		switch {
		case at == len(text) || (text[at] == ',' && depth == 0):
			part := strings.TrimSpace(text[start:at])
			start = at + 1
			if part == "" {
				continue
			}
			job, err := ParseJob(part)
			if err != nil {
				return nil, err
			}
			all = append(all, job)
		case text[at] == '[':
			depth++
		case text[at] == ']':
			depth--
		}
	}
	return all, nil
}
