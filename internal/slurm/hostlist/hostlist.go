// Package hostlist parses and formats lists of hosts in Slurm's notation: n[1-3,7],login1.
//
//	In:   a list as text, or names
//	Out:  names, or the shortest list of the names in the same order
//
// # Invariants
//
//   - ExpandList(CompressNames(names)) returns the same names in the same order, including leading zeros.
//   - The result of ExpandList has at most MaxHosts names, no matter how short the text is.
package hostlist

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxHosts is the maximum number of names in a list.
const MaxHosts = 65_536

// maxDigits is the maximum number of digits in a number. Digits before these belong to the name.
const maxDigits = 15

// ExpandList returns the names of a list, in order and with repetitions. An empty text has no names.
func ExpandList(text string) ([]string, error) {
	var all []string
	for _, part := range splitAtCommas(text) {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		names, err := expandName(part)
		if err != nil {
			return nil, fmt.Errorf("invalid host list %q: %w", text, err)
		}
		if all = append(all, names...); len(all) > MaxHosts {
			return nil, fmt.Errorf("host list %q has more than %d names", text, MaxHosts)
		}
	}
	return all, nil
}

// splitAtCommas splits a text at commas outside brackets.
func splitAtCommas(text string) []string {
	var parts []string
	start, depth := 0, 0
	for i := range len(text) {
		switch {
		case text[i] == '[':
			depth++
		case text[i] == ']' && depth > 0:
			depth--
		case text[i] == ',' && depth == 0:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}

// expandName expands a name with any number of brackets. The numbers in the last bracket vary fastest.
func expandName(part string) ([]string, error) {
	open := strings.IndexByte(part, '[')
	if open < 0 {
		if strings.ContainsAny(part, "] \t\n") {
			return nil, fmt.Errorf("%q is not a valid name", part)
		}
		return []string{part}, nil
	}
	end := strings.IndexByte(part, ']')
	if end < open {
		return nil, fmt.Errorf("%q: missing closing bracket", part)
	}
	numbers, err := expandRanges(part[open+1 : end])
	if err != nil {
		return nil, err
	}
	tails := []string{""}
	if rest := part[end+1:]; rest != "" {
		if tails, err = expandName(rest); err != nil {
			return nil, err
		}
	}
	if len(numbers)*len(tails) > MaxHosts {
		return nil, fmt.Errorf("%q has more than %d names", part, MaxHosts)
	}
	head := part[:open]
	if strings.ContainsAny(head, "] \t\n") {
		return nil, fmt.Errorf("%q is not a valid name", part)
	}
	names := make([]string, 0, len(numbers)*len(tails))
	for _, number := range numbers {
		for _, tail := range tails {
			names = append(names, head+number+tail)
		}
	}
	return names, nil
}

// expandRanges parses the text in brackets: 1-3,07.
func expandRanges(text string) ([]string, error) {
	var all []string
	for _, part := range strings.Split(text, ",") {
		first, last, ranged := strings.Cut(part, "-")
		low, ok := parseNumber(first)
		if !ok {
			return nil, fmt.Errorf("%q in [%s] is not a number", first, text)
		}
		if !ranged {
			all = append(all, first)
			continue
		}
		high, ok := parseNumber(last)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q in [%s] is not a number", last, text)
		case high < low:
			return nil, fmt.Errorf("%q in [%s] is a descending range", part, text)
		case high-low >= MaxHosts || len(all) > MaxHosts:
			return nil, fmt.Errorf("[%s] has more than %d numbers", text, MaxHosts)
		}
		for n := low; n <= high; n++ {
			all = append(all, padNumber(n, len(first)))
		}
	}
	return all, nil
}

func parseNumber(digits string) (int64, bool) {
	if digits == "" || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, err == nil
}

func padNumber(n int64, width int) string {
	return fmt.Sprintf("%0*d", width, n)
}

// CompressNames formats names as a list in the same order. Consecutive names that differ only in their trailing number
// share brackets.
func CompressNames(names []string) string {
	var b strings.Builder
	for i := 0; i < len(names); {
		prefix, _ := cutTrailingNumber(names[i])
		end := i + 1
		for end < len(names) {
			if next, digits := cutTrailingNumber(names[end]); digits == "" || next != prefix {
				break
			}
			end++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		if _, digits := cutTrailingNumber(names[i]); digits == "" || end == i+1 {
			b.WriteString(names[i])
			i++
			continue
		}
		b.WriteString(prefix + "[" + formatRanges(names[i:end], len(prefix)) + "]")
		i = end
	}
	return b.String()
}

// formatRanges formats the trailing numbers of names as ranges.
func formatRanges(names []string, from int) string {
	var parts []string
	for i := 0; i < len(names); {
		first := names[i][from:]
		low, _ := parseNumber(first)
		end := i + 1
		for end < len(names) && names[end][from:] == padNumber(low+int64(end-i), len(first)) {
			end++
		}
		part := first
		if end > i+1 {
			part += "-" + names[end-1][from:]
		}
		parts = append(parts, part)
		i = end
	}
	return strings.Join(parts, ",")
}

// cutTrailingNumber splits a name before its trailing number. digits is empty if the name has no such number.
func cutTrailingNumber(name string) (prefix, digits string) {
	at := len(name)
	for at > 0 && name[at-1] >= '0' && name[at-1] <= '9' {
		at--
	}
	at = max(at, len(name)-maxDigits)
	return name[:at], name[at:]
}

// SortNames sorts names so that trailing numbers are in numerical order: n2 before n10.
func SortNames(names []string) {
	slices.SortFunc(names, CompareNames)
}

// CompareNames compares two names in the order of SortNames.
func CompareNames(a, b string) int {
	prefixA, digitsA := cutTrailingNumber(a)
	prefixB, digitsB := cutTrailingNumber(b)
	if order := cmp.Compare(prefixA, prefixB); order != 0 {
		return order
	}
	numberA, _ := parseNumber(digitsA)
	numberB, _ := parseNumber(digitsB)
	return cmp.Or(cmp.Compare(numberA, numberB), cmp.Compare(len(digitsA), len(digitsB)))
}

// FormatSorted formats names as a sorted list without duplicates: n[1-3,7].
func FormatSorted(names []string) string {
	sorted := slices.Clone(names)
	SortNames(sorted)
	return CompressNames(slices.Compact(sorted))
}
