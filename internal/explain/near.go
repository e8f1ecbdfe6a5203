package explain

import (
	"iter"
	"strings"
)

// NearLabel returns the label, as key=value, of some nodes that is written most like one that no node has: another value of its key or, if no
// node has the key, its value under a similar key; "" if none is close.
func NearLabel(label string, nodes iter.Seq[map[string]string]) string {
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
	if near := nearest(value, values); near != "" {
		return key + "=" + near
	}
	if near := nearest(key, keys); near != "" && len(values) == 0 {
		return near + "=" + value
	}
	return ""
}

// nearest returns the word that differs least from another, at most in a third of its letters; of several the first by name.
func nearest(word string, among map[string]bool) string {
	best, least := "", max(len(word)/3, 1)+1
	for other := range among {
		d := distance(strings.ToLower(word), strings.ToLower(other))
		if d < least || d == least && best != "" && other < best {
			best, least = other, d
		}
	}
	return best
}

// distance counts the letters to change, add or remove to make one word of another.
func distance(a, b string) int {
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
