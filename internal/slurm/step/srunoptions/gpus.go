package srunoptions

import (
	"strconv"
	"strings"
)

// countAccelerators returns the number of accelerators in a list such as 2, a100:2 or a100:2,v100:1.
func countAccelerators(list string) (int, bool) {
	total := 0
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word[strings.LastIndex(word, ":")+1:])
		if err != nil || n < 0 {
			return 0, false
		}
		total += n
	}
	return total, true
}

// parseGres returns the number of GPUs in the value of --gres, which contains entries such as gpu[:type][:count].
// Steps do not count other resources; they are returned in others.
func parseGres(list string) (count int, others []string, ok bool) {
	for word := range strings.SplitSeq(list, ",") {
		word = strings.TrimPrefix(word, "gres/")
		name, rest, _ := strings.Cut(word, ":")
		name, number, equals := strings.Cut(name, "=")
		if equals {
			rest = number
		}
		switch {
		case name == "none":
		case name != "gpu":
			others = append(others, word)
		default:
			n, err := strconv.Atoi(rest[strings.LastIndex(rest, ":")+1:])
			if err != nil {
				n = 1 // the entry has no count, and possibly no type
			}
			if n < 0 {
				return 0, nil, false
			}
			count += n
		}
	}
	return count, others, true
}
