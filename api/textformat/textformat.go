// Package textformat formats values for messages that people read.
//
//	In:   durations and counts
//	Out:  text
package textformat

import (
	"fmt"
	"strings"
	"time"
)

// FormatDuration formats a duration without units that are zero at its end, for example 24h or 1h30m.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	if short, ok := strings.CutSuffix(text, "h0m"); ok {
		text = short + "h"
	}
	return text
}

// CountWithNoun returns a number with its noun, for example "1 pod" or "2 pods".
func CountWithNoun[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
