package optionvalue

import (
	"fmt"
	"math"
	"strings"
)

// ParseNumber parses a positive integer.
func ParseNumber(text string) (int64, error) {
	n, ok := parseDigitsOnly(text)
	if !ok || n == 0 || n > math.MaxInt32 {
		return 0, newError("use a whole number greater than 0")
	}
	return n, nil
}

// ParseScaled parses an integer with an optional suffix k, m, g, t or p, each 1024 times the previous one.
func ParseScaled(text string) (int64, error) {
	factor := int64(1)
	if text != "" {
		if at := strings.IndexByte("kmgtp", text[len(text)-1]|0x20); at >= 0 {
			factor, text = 1<<(10*(at+1)), text[:len(text)-1]
		}
	}
	n, ok := parseDigitsOnly(text)
	if !ok {
		return 0, newError("use a whole number, optionally with the suffix k, m or g")
	}
	return multiplyChecked(n, factor)
}

// Count is a number of nodes, or a range of such numbers.
type Count struct{ Min, Max int64 }

// String returns the count in the format that ParseCount accepts.
func (c Count) String() string {
	if c.Min == c.Max {
		return fmt.Sprint(c.Min)
	}
	return fmt.Sprintf("%d-%d", c.Min, c.Max)
}

// ParseCount parses a number of nodes: n or min-max, optionally with the suffixes k and m. Unlike Slurm, it rejects
// lists of sizes.
func ParseCount(text string) (Count, error) {
	if strings.ContainsAny(text, ",:") {
		return Count{}, newError("lists of node counts are not supported: use one number, or a range MIN-MAX")
	}
	low, high, ranged := strings.Cut(text, "-")
	if !ranged {
		high = low
	}
	var c Count
	for part, to := range map[string]*int64{low: &c.Min, high: &c.Max} {
		if strings.ContainsAny(part, "gGtTpP") {
			return Count{}, newError("use a number such as 4, or a range such as 2-8")
		}
		n, err := ParseScaled(part)
		if err != nil || n < 1 || n > math.MaxInt32 {
			return Count{}, newError("use a number such as 4, or a range such as 2-8")
		}
		*to = n
	}
	if low == high {
		c.Max = max(c.Min, c.Max)
		c.Min = c.Max
	}
	if c.Max < c.Min {
		return Count{}, newError(fmt.Sprintf("the range is descending: use %d-%d", c.Max, c.Min))
	}
	return c, nil
}
