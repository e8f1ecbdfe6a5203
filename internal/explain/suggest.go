package explain

import (
	"iter"
	"strings"
)

// SuggestLabel suggests a label, as key=value, to replace a label that no node has. It is a node's label with the
// same key and another value or, if no node has the key, a label with the same value and a similar key. SuggestLabel
// returns "" if no label is similar.
func SuggestLabel(label string, nodes iter.Seq[map[string]string]) string {
	key, value, _ := strings.Cut(label, "=")
	values, keys := map[string]bool{}, map[string]bool{}
	for labels := range nodes {
		if v, has := labels[key]; has {
			values[v] = true
			continue
		}
		for k, v := range labels {
			if v == value {
				keys[k] = true
			}
		}
	}
	if near := NearestWord(value, values); near != "" {
		return key + "=" + near
	}
	if near := NearestWord(key, keys); near != "" && len(values) == 0 {
		return near + "=" + value
	}
	return ""
}

// NearestWord returns the word with the smallest edit distance from the given word. The distance may be at most a
// third of the given word's length. Among words with equal distances, NearestWord returns the first in alphabetical
// order.
func NearestWord(word string, among map[string]bool) string {
	best, least := "", max(len(word)/3, 1)+1
	for other := range among {
		d := editDistance(strings.ToLower(word), strings.ToLower(other))
		isFirstOfEqual := d == least && best != "" && other < best
		if d < least || isFirstOfEqual {
			best, least = other, d
		}
	}
	return best
}

// editDistance returns the number of letters to change, add or remove to turn one word into the other (Levenshtein
// distance).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
