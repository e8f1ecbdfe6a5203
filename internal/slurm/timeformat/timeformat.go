// Package timeformat formats times as Slurm's commands do, depending on the environment variable SLURM_TIME_FORMAT. It
// also formats and parses durations.
//
//	In:   a time, the current time, the format; a duration
//	Out:  text; a duration
package timeformat

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Style is a format for times. The zero Style is Slurm's standard format: 2026-11-21T22:18:00.
type Style struct{ format string }

// Standard is Slurm's default format.
const Standard = "2006-01-02T15:04:05"

// NewStyle returns the style for a value of SLURM_TIME_FORMAT: standard, relative, or a strftime format.
func NewStyle(format string) Style {
	if format == "standard" {
		format = ""
	}
	return Style{format}
}

// FormatTime formats a time in the time zone of now.
func (s Style) FormatTime(t, now time.Time) string {
	t = t.In(now.Location())
	switch {
	case s.format == "":
		return t.Format(Standard)
	case s.format == "relative":
		return formatRelative(t, now)
	case strings.Contains(s.format, "%"):
		return formatStrftime(s.format, t)
	}
	return t.Format(Standard)
}

// formatRelative describes near days in words: 22:18:00 for today, Tomorr 22:18, Ystday 22:18, or the weekday for the
// days after tomorrow. Other days have the form 23 Nov 22:18 or, in other years, only the date.
func formatRelative(t, now time.Time) string {
	days := func(t time.Time) int {
		return int(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / 86400)
	}
	switch apart := days(t) - days(now); {
	case apart == -1:
		return t.Format("Ystday 15:04")
	case apart == 0:
		return t.Format("15:04:05")
	case apart == 1:
		return t.Format("Tomorr 15:04")
	case apart > 1 && apart < 7:
		return t.Format("Mon 15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006")
}

// letters maps the strftime letters that are useful for times to Go layouts.
var letters = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'a': "Mon", 'A': "Monday", 'b': "Jan",
	'h': "Jan", 'B': "January", 'j': "002", 'Z': "MST", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06",
	'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05", 'r': "03:04:05 PM",
}

func formatStrftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch layout, known := letters[format[i]]; {
		case known:
			b.WriteString(t.Format(layout))
		case format[i] == 's':
			b.WriteString(strconv.FormatInt(t.Unix(), 10))
		case format[i] == 'n':
			b.WriteByte('\n')
		case format[i] == 't':
			b.WriteByte('\t')
		case format[i] == '%':
			b.WriteByte('%')
		default:
			fmt.Fprintf(&b, "%%%c", format[i])
		}
	}
	return b.String()
}
