package render

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/vc-batch/vc/internal/printable"
)

// None is printed where there is nothing to print.
const None = "<none>"

// OrNone returns text, or None for the empty text.
func OrNone(text string) string {
	if text == "" {
		return None
	}
	return text
}

// Age returns how long ago then was, as kubectl writes it; a zero time is unknown.
func Age(now, then time.Time) string {
	if then.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(then))
}

// Duration returns a duration as kubectl writes it: 45s, 5m, 3d4h.
func Duration(d time.Duration) string { return duration.HumanDuration(d) }

// Bar draws the part used/total as a bar of width cells. The eighths of a cell
// are drawn when fancy is set, else whole signs of ASCII. A bar over its total
// is full and ends with ">" ("▶" when fancy).
func Bar(used, total float64, width int, fancy bool) string {
	if width <= 0 {
		return ""
	}
	full, empty, over := "#", ".", ">"
	if fancy {
		full, empty, over = "█", "░", "▶"
	}
	if total <= 0 {
		return strings.Repeat(empty, width)
	}
	if used > total {
		return strings.Repeat(full, width-1) + over
	}
	eighths := int(used/total*float64(width)*8 + 0.5)
	if !fancy {
		cells := (eighths + 4) / 8
		return strings.Repeat(full, cells) + strings.Repeat(empty, width-cells)
	}
	bar := strings.Repeat(full, eighths/8)
	cells := eighths / 8
	if rest := eighths % 8; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
		cells++
	}
	return bar + strings.Repeat(empty, width-cells)
}

// Style colours text for a terminal; the zero Style leaves it as it is.
type Style struct {
	// Enabled turns the colours on.
	Enabled bool
}

const (
	ansiReset  = "\x1b[0m"
	ansiBold   = "\x1b[1m"
	ansiDim    = "\x1b[2m"
	ansiRed    = "\x1b[31m"
	ansiGreen  = "\x1b[32m"
	ansiYellow = "\x1b[33m"
	ansiCyan   = "\x1b[36m"
)

// streamCodes are the colours of streams, and styleCodes all codes that a Style writes.
var (
	streamCodes = []string{ansiCyan, ansiGreen, ansiYellow, "\x1b[35m", "\x1b[34m", ansiRed}
	styleCodes  = append([]string{ansiReset, ansiBold, ansiDim}, streamCodes...)
)

func (s Style) paint(code, text string) string {
	if !s.Enabled || text == "" {
		return text
	}
	return code + painted(text) + ansiReset
}

// painted returns text with the colours of a Style, and every other control character in a visible form. What is coloured
// ends with its reset, so that no text colours what follows it.
func painted(text string) string {
	var b strings.Builder
	open := false
	for {
		at := strings.IndexByte(text, '\x1b')
		if at < 0 {
			b.WriteString(printable.Line(text))
			break
		}
		b.WriteString(printable.Line(text[:at]))
		code := styleCode(text[at:])
		if code == "" {
			b.WriteString(printable.Line(text[at : at+1]))
			text = text[at+1:]
			continue
		}
		b.WriteString(code)
		open, text = code != ansiReset, text[at+len(code):]
	}
	if open {
		b.WriteString(ansiReset)
	}
	return b.String()
}

// styleCode returns the code of a Style that text begins with; "" when it begins with none.
func styleCode(text string) string {
	for _, code := range styleCodes {
		if strings.HasPrefix(text, code) {
			return code
		}
	}
	return ""
}

// Bold, Dim, Good, Bad and Warn colour text by what it means.
func (s Style) Bold(text string) string { return s.paint(ansiBold, text) }

// Dim is for what matters little.
func (s Style) Dim(text string) string { return s.paint(ansiDim, text) }

// Good is for what went well.
func (s Style) Good(text string) string { return s.paint(ansiGreen, text) }

// Bad is for what failed.
func (s Style) Bad(text string) string { return s.paint(ansiRed, text) }

// Warn is for what waits or needs a look.
func (s Style) Warn(text string) string { return s.paint(ansiYellow, text) }

// Phase colours the phase of a job, pod, group or queue by what it means.
func (s Style) Phase(phase string) string {
	switch phase {
	case "Running", "Open", "Ready":
		return s.Good(phase)
	case "Completed", "Succeeded", "Succeed":
		return s.Dim(phase)
	case "Failed", "Terminated", "Aborted", "Error", "CrashLoopBackOff":
		return s.Bad(phase)
	case "Pending", "Inqueue", "Restarting", "Aborting", "Terminating", "Completing", "Closing", "Closed", "Unknown":
		return s.Warn(phase)
	}
	return phase
}

// Stream colours the n-th of several streams; the same n keeps its colour.
func (s Style) Stream(n int, text string) string {
	return s.paint(streamCodes[n%len(streamCodes)], text)
}
