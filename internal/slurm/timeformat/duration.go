package timeformat

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ShortDuration formats a duration as squeue does: [D-][HH:]MM:SS without leading zeros. Examples are 0:07, 1:02:03 and
// 2-00:00:00.
func ShortDuration(d time.Duration) string { return ShortClock(int64(max(d, 0) / time.Second)) }

// ShortClock formats seconds like ShortDuration. It exists because a time limit can be longer than a time.Duration.
func ShortClock(s int64) string {
	days, hours, minutes, seconds := s/86400, s/3600%24, s/60%60, s%60
	switch {
	case days > 0:
		return fmt.Sprintf("%d-%02d:%02d:%02d", days, hours, minutes, seconds)
	case hours > 0:
		return fmt.Sprintf("%d:%02d:%02d", hours, minutes, seconds)
	}
	return fmt.Sprintf("%d:%02d", minutes, seconds)
}

// LongDuration formats a duration as sacct and scontrol do: [D-]HH:MM:SS.
func LongDuration(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600%24, s/60%60, s%60)
	if days := s / 86400; days > 0 {
		return fmt.Sprintf("%d-%s", days, text)
	}
	return text
}

// maxSeconds is ten thousand years.
const maxSeconds = 10_000 * 366 * 24 * 60 * 60

// clockUnits maps the number of parts of a duration without days to the units of the parts, in seconds.
var clockUnits = map[int][]int64{1: {60}, 2: {60, 1}, 3: {3600, 60, 1}}

// ParseClock parses a duration: M, M:S, H:M:S, D-H, D-H:M or D-H:M:S. ok is false if the text has another format, or if
// the duration is longer than ten thousand years.
func ParseClock(text string) (seconds int64, ok bool) {
	days, clock, hasDays := strings.Cut(text, "-")
	parts := strings.Split(text, ":")
	units := clockUnits[len(parts)]
	if hasDays {
		parts, units = append([]string{days}, strings.Split(clock, ":")...), []int64{86400, 3600, 60, 1}
	}
	if len(parts) > len(units) {
		return 0, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 63)
		if err != nil || n > maxSeconds {
			return 0, false
		}
		seconds += int64(n) * units[i]
	}
	return seconds, seconds <= maxSeconds
}
