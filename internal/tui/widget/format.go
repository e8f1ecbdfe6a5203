package widget

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/tui/canvas"
)

// FormatDuration formats a duration in a single unit, for example 12s, 4m, 3h or 2d.
func FormatDuration(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// units holds the unit prefixes for shortened numbers, for counts and for memory.
var units = map[string][]string{"": {"", "k", "M", "G", "T"}, "i": {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}}

// ShortenNumber shortens a number to at most w cells if possible, for example 1429 to 1.4k, or 10240Gi to 10Ti. It
// returns text unchanged if it fits, is not a number or cannot be shortened.
func ShortenNumber(text string, w int) string {
	if canvas.Width(text) <= w {
		return text
	}
	digits := strings.TrimRight(text, "KMGTPEi")
	unit := text[len(digits):]
	value, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil {
		return text
	}
	family, step := units[""], 1000.0
	if unit != "" {
		family, step = units["i"], 1024
	}
	at := 0
	for at < len(family) && family[at] != unit {
		at++
	}
	for ; at < len(family); at, value = at+1, value/step {
		if value >= step && at+1 < len(family) {
			continue
		}
		for _, decimals := range []int{1, 0} {
			short := strconv.FormatFloat(value, 'f', decimals, 64)
			if decimals > 0 {
				short = strings.TrimSuffix(short, ".0")
			}
			if short += family[at]; canvas.Width(short) <= w && !strings.HasPrefix(short, "0") {
				return short
			}
		}
	}
	return text
}

// FitNumber draws a number at the right edge of w cells. If the number does not fit, it is drawn in a larger unit.
func FitNumber(c canvas.Canvas, x, y, w int, text string, style canvas.Style) {
	c.FitRight(x, y, w, ShortenNumber(text, w), style)
}
