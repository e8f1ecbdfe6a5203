package optionvalue

import (
	"slices"
	"strings"
)

// Features is a condition on the features of a node. The node must have all the features in at least one of the lists.
// Features represents the value of --constraint in disjunctive normal form.
type Features [][]string

// maxTerms is the maximum number of alternatives in a condition.
const maxTerms = 64

// String returns the condition in the format that ParseFeatures accepts.
func (f Features) String() string {
	terms := make([]string, len(f))
	for i, all := range f {
		terms[i] = strings.Join(all, "&")
		if len(f) > 1 && len(all) > 1 {
			terms[i] = "(" + terms[i] + ")"
		}
	}
	return strings.Join(terms, "|")
}

// ParseFeatures parses features that are joined by & and |, possibly with parentheses. Operators are evaluated
// strictly from left to right: a|b&c means (a or b) and c.
func ParseFeatures(text string) (Features, error) {
	if strings.ContainsAny(text, "*[]") {
		return nil, newError("counts (a*2) and matching groups ([a|b]) are not supported here")
	}
	r := &featureReader{rest: text}
	f, err := r.parseExpression(0)
	if err == nil && r.rest != "" {
		err = newError(featureHint)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

const featureHint = "join features with & (and) or | (or), for example a100&nvlink; use parentheses if needed"

// maxDepth is the maximum nesting depth of parentheses.
const maxDepth = 32

type featureReader struct{ rest string }

// parseExpression parses the text up to its end or up to the closing parenthesis.
func (r *featureReader) parseExpression(depth int) (Features, error) {
	left, err := r.parseOperand(depth)
	for err == nil && r.rest != "" && r.rest[0] != ')' {
		operator := r.rest[0]
		if operator == ',' {
			operator = '&'
		}
		if operator != '&' && operator != '|' {
			return nil, newError(featureHint)
		}
		r.rest = r.rest[1:]
		var right Features
		if right, err = r.parseOperand(depth); err != nil {
			return nil, err
		}
		if operator == '|' {
			left = append(left, right...)
		} else {
			left = combineFeatures(left, right)
		}
		if len(left) > maxTerms {
			return nil, newError("the condition expands to too many alternatives")
		}
	}
	return left, err
}

func (r *featureReader) parseOperand(depth int) (Features, error) {
	if inner, opened := strings.CutPrefix(r.rest, "("); opened && depth < maxDepth {
		r.rest = inner
		f, err := r.parseExpression(depth + 1)
		if err != nil {
			return nil, err
		}
		rest, closed := strings.CutPrefix(r.rest, ")")
		if !closed {
			return nil, newError("add the missing closing parenthesis")
		}
		r.rest = rest
		return f, nil
	}
	end := strings.IndexAny(r.rest, "&|,()")
	if end < 0 {
		end = len(r.rest)
	}
	name := r.rest[:end]
	r.rest = r.rest[end:]
	if name == "" || strings.ContainsAny(name, " \t\n!") {
		return nil, newError(featureHint)
	}
	return Features{{name}}, nil
}

func combineFeatures(left, right Features) Features {
	var product Features
	for _, a := range left {
		for _, b := range right {
			both := slices.Clone(a)
			for _, name := range b {
				if !slices.Contains(both, name) {
					both = append(both, name)
				}
			}
			product = append(product, both)
		}
	}
	return product
}
