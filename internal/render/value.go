package render

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/vc-batch/vc/internal/printable"
)

// None is the text for a missing value.
const None = "<none>"

// TextOrNone returns text, or None if text is empty.
func TextOrNone(text string) string {
	if text == "" {
		return None
	}
	return text
}

// FormatAgeSince returns the time since then in kubectl's format, or "<unknown>" for a zero time.
func FormatAgeSince(now, then time.Time) string {
	if then.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(then))
}

// FormatDuration formats a duration like kubectl: 45s, 5m, 3d4h.
func FormatDuration(d time.Duration) string { return duration.HumanDuration(d) }

// FormatBar draws used/total as a bar of width cells. If fancy is set, it uses block characters down to an eighth of a
// cell, otherwise ASCII. If used exceeds total, the bar is full and ends with ">" ("▶" if fancy).
func FormatBar(used, total float64, width int, fancy bool) string {
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

// Style colours text for a terminal. The zero Style does not change the text.
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

// streamCodes holds the colours for streams, and styleCodes holds all codes that a Style writes.
var (
	streamCodes = []string{ansiCyan, ansiGreen, ansiYellow, "\x1b[35m", "\x1b[34m", ansiRed}
	styleCodes  = append([]string{ansiReset, ansiBold, ansiDim}, streamCodes...)
)

func (s Style) colorText(code, text string) string {
	if !s.Enabled || text == "" {
		return text
	}
	return code + keepColors(text) + ansiReset
}

// keepColors keeps the colours of a Style in text and converts every other control character to a visible form. If the
// text does not end its last colour, keepColors appends a reset, so that the colour does not affect later text.
func keepColors(text string) string {
	var b strings.Builder
	open := false
	for {
		at := strings.IndexByte(text, '\x1b')
		if at < 0 {
			b.WriteString(printable.EscapeLine(text))
			break
		}
		b.WriteString(printable.EscapeLine(text[:at]))
		code := styleCode(text[at:])
		if code == "" {
			b.WriteString(printable.EscapeLine(text[at : at+1]))
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

// styleCode returns the Style code with which text begins, or "".
func styleCode(text string) string {
	for _, code := range styleCodes {
		if strings.HasPrefix(text, code) {
			return code
		}
	}
	return ""
}

// Bold emphasizes text, such as a heading.
func (s Style) Bold(text string) string { return s.colorText(ansiBold, text) }

// Dim marks unimportant text.
func (s Style) Dim(text string) string { return s.colorText(ansiDim, text) }

// Good marks success.
func (s Style) Good(text string) string { return s.colorText(ansiGreen, text) }

// Bad marks failure.
func (s Style) Bad(text string) string { return s.colorText(ansiRed, text) }

// Warn marks text that is about waiting or needs attention.
func (s Style) Warn(text string) string { return s.colorText(ansiYellow, text) }

// PaintPhase colours the phase of a job, pod, group or queue according to its meaning.
func (s Style) PaintPhase(phase string) string {
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

// PaintStream colours the n-th of several streams. The same n always has the same colour.
func (s Style) PaintStream(n int, text string) string {
	return s.colorText(streamCodes[n%len(streamCodes)], text)
}
