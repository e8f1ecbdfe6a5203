package timeformat

import (
	"fmt"
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
