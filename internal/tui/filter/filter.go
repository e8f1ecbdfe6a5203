package filter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/vc-batch/vc/internal/explain"
)

// Fields defines the filterable values of one kind of row.
type Fields[R any] struct {
	// Words lists the keys with text values, and Numbers the keys with amounts.
	Words   []Word[R]
	Numbers []Number[R]
	// Text appends the texts in which words without a key are searched for. It is called for every row on every key
	// press, so it should not allocate memory.
	Text func(row R, to []string) []string
}

// Word is a key with text values.
type Word[R any] struct {
	Key  string
	Also []string
	// Whole requires that words match completely, for example two-letter states.
	Whole bool
	// Of appends the words of a row, any of which may match.
	Of func(row R, to []string) []string
}

// Number is a key with amounts as values.
type Number[R any] struct {
	Key  string
	Also []string
	// Time is true if the amount is in seconds and is typed as 90s, 5m, 2h or 3d.
	Time bool
	// Maximum is true if a value after ":" is the largest matching amount, as in since:1d.
	Maximum bool
	Of      func(R) float64
}

// Filter is a parsed filter. The zero value matches everything. It must not be used concurrently.
type Filter[R any] struct{ terms []func(R) bool }

// Match reports whether all terms match a row.
func (f Filter[R]) Match(row R) bool {
	return !slices.ContainsFunc(f.terms, func(holds func(R) bool) bool { return !holds(row) })
}

// MatchesAll reports whether the filter matches everything.
func (f Filter[R]) MatchesAll() bool { return len(f.terms) == 0 }

// Parse parses a filter. An error names the invalid term and suggests a correction.
func (f *Fields[R]) Parse(text string) (Filter[R], error) {
	words, err := splitTerms(text)
	if err != nil {
		return Filter[R]{}, err
	}
	var filter Filter[R]
	for _, word := range words {
		holds, err := f.parseTermOf(word)
		if err != nil {
			return Filter[R]{}, err
		}
		if holds == nil {
			continue
		}
		if word.not {
			inner := holds
			holds = func(row R) bool { return !inner(row) }
		}
		filter.terms = append(filter.terms, holds)
	}
	return filter, nil
}

// FilterKeys returns all keys, for help.
func (f *Fields[R]) FilterKeys() []string {
	var keys []string
	for _, word := range f.Words {
		keys = append(keys, word.Key+":")
	}
	for _, number := range f.Numbers {
		keys = append(keys, number.Key+number.usualOperator())
	}
	return keys
}

// parseTermOf returns the condition for one word; nil matches everything.
func (f *Fields[R]) parseTermOf(w word) (func(R) bool, error) {
	if w.text == "" {
		return nil, nil
	}
	if w.quoted {
		return f.matchPlainText(w.text), nil
	}
	at := strings.IndexAny(w.text, ":<>=")
	if at <= 0 {
		return f.matchPlainText(w.text), nil
	}
	key, rest := strings.ToLower(w.text[:at]), w.text[at:]
	operator := rest[:1]
	if strings.HasPrefix(rest, ">=") || strings.HasPrefix(rest, "<=") {
		operator = rest[:2]
	}
	value := rest[len(operator):]
	for i := range f.Words {
		if one := &f.Words[i]; one.Key == key || slices.Contains(one.Also, key) {
			return one.parseWordTerm(operator, value)
		}
	}
	for i := range f.Numbers {
		if one := &f.Numbers[i]; one.Key == key || slices.Contains(one.Also, key) {
			return one.parseNumberTerm(operator, value)
		}
	}
	return nil, f.unknownKeyError(key, operator)
}

// unknownKeyError returns the error about an unknown key. It is short if a known key is similar, because the line of a
// filter has little space.
func (f *Fields[R]) unknownKeyError(key, operator string) error {
	known := map[string]bool{}
	for i := range f.Words {
		known[f.Words[i].Key] = true
	}
	for i := range f.Numbers {
		known[f.Numbers[i].Key] = true
	}
	if near := explain.NearestWord(key, known); near != "" {
		return fmt.Errorf("unknown key %q; did you mean %s?", key+operator, near+operator)
	}
	return fmt.Errorf("unknown key %q; put the word in quotes, or use %s", key+operator, strings.Join(f.FilterKeys(), " "))
}

func (f *Fields[R]) matchPlainText(text string) func(R) bool {
	text = strings.ToLower(text)
	var parts []string
	return func(row R) bool {
		parts = f.Text(row, parts[:0])
		return slices.ContainsFunc(parts, func(part string) bool { return containsFold(part, text) })
	}
}

// containsFold reports whether text contains lower, ignoring the case of text. lower must be in lower case.
func containsFold(text, lower string) bool {
	return strings.Contains(text, lower) || (strings.ContainsFunc(text, changesInLower) && strings.Contains(strings.ToLower(text), lower))
}

func changesInLower(r rune) bool { return unicode.ToLower(r) != r }

func (w *Word[R]) parseWordTerm(operator, value string) (func(R) bool, error) {
	if operator != ":" && operator != "=" {
		return nil, fmt.Errorf("%s is not numeric: use %s:%s", w.Key, w.Key, value)
	}
	wanted := slices.DeleteFunc(strings.Split(strings.ToLower(value), ","), func(one string) bool { return one == "" })
	if len(wanted) == 0 {
		return nil, nil
	}
	var matchers []func(lower string) bool
	for _, one := range wanted {
		if operator == "=" {
			matchers = append(matchers, func(has string) bool { return has == one })
		} else {
			matchers = append(matchers, w.valueMatcher(one))
		}
	}
	var values []string // reused for all rows
	return func(row R) bool {
		values = w.Of(row, values[:0])
		for _, has := range values {
			has = strings.ToLower(has)
			if slices.ContainsFunc(matchers, func(matches func(string) bool) bool { return matches(has) }) {
				return true
			}
		}
		return false
	}, nil
}

// valueMatcher returns a function that reports whether a value matches the wanted one. Both are in lower case.
func (w *Word[R]) valueMatcher(wanted string) func(has string) bool {
	switch {
	case strings.Contains(wanted, "*"):
		parts := strings.Split(wanted, "*")
		return func(has string) bool { return matchesPattern(has, parts) }
	case w.Whole:
		return func(has string) bool { return has == wanted }
	}
	return func(has string) bool { return strings.HasPrefix(has, wanted) }
}

// matchesPattern reports whether a text consists of the parts in order, with any text between them.
func matchesPattern(text string, parts []string) bool {
	first, last := parts[0], parts[len(parts)-1]
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return strings.HasSuffix(text, last)
}

func (n *Number[R]) parseNumberTerm(operator, value string) (func(R) bool, error) {
	if value == "" {
		return nil, nil
	}
	bound, err := n.parseBound(value)
	if err != nil {
		return nil, err
	}
	if n.Maximum && operator == ":" {
		operator = "<="
	}
	switch operator {
	case ">=":
		return func(row R) bool { return n.Of(row) >= bound }, nil
	case "<=":
		return func(row R) bool { return n.Of(row) <= bound }, nil
	case ">":
		return func(row R) bool { return n.Of(row) > bound }, nil
	case "<":
		return func(row R) bool { return n.Of(row) < bound }, nil
	}
	return func(row R) bool { return n.Of(row) == bound }, nil
}

// usualOperator returns the operator to show in help and examples.
func (n *Number[R]) usualOperator() string {
	if n.Maximum {
		return ":"
	}
	return ">="
}

func (n *Number[R]) parseBound(value string) (float64, error) {
	if !n.Time {
		bound, err := strconv.ParseFloat(value, 64)
		if err != nil || bound != bound {
			return 0, fmt.Errorf("%s: %q is not a number; for example, use %s%s8", n.Key, value, n.Key, n.usualOperator())
		}
		return bound, nil
	}
	if days, ok := strings.CutSuffix(value, "d"); ok {
		if bound, err := strconv.ParseFloat(days, 64); err == nil && bound == bound {
			return bound * 24 * 3600, nil
		}
	}
	length, err := time.ParseDuration(value)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a duration; for example, use %s%s2h, 90s, 5m or 3d", n.Key, value, n.Key, n.usualOperator())
	}
	return length.Seconds(), nil
}
