package render

import (
	"cmp"
	"strings"
)

// CompareNatural compares texts and treats each run of digits as a number, so that trial-2 sorts before trial-10.
func CompareNatural(a, b string) int {
	whole := strings.Compare(a, b)
	for a != "" && b != "" {
		x, y := leadingDigits(a), leadingDigits(b)
		if x != "" && y != "" {
			less := cmp.Or(cmp.Compare(len(strings.TrimLeft(x, "0")), len(strings.TrimLeft(y, "0"))),
				strings.Compare(strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")))
			if less != 0 {
				return less
			}
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), whole)
}

func leadingDigits(text string) string {
	return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
}
