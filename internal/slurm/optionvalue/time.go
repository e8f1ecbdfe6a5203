package optionvalue

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/slurm/timeformat"
)

// Minutes is a time limit in whole minutes, Slurm's unit for time limits.
type Minutes int64

// Unlimited means no limit.
const Unlimited Minutes = -1

// ToDuration returns the limit, or 0 if there is no limit.
func (m Minutes) ToDuration() time.Duration {
	return time.Duration(max(m, 0)) * time.Minute
}

// String returns the limit in Slurm's format: [D-]HH:MM:SS, in which the hours have no leading zeros, or UNLIMITED.
func (m Minutes) String() string {
	if m < 0 {
		return "UNLIMITED"
	}
	return timeformat.ShortClock(int64(m) * 60)
}

// ParseTime parses a time limit: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S. It rounds seconds up to minutes. 0, -1, INFINITE
// and UNLIMITED mean no limit.
func ParseTime(text string) (Minutes, error) {
	switch strings.ToUpper(text) {
	case "-1", "INFINITE", "UNLIMITED":
		return Unlimited, nil
	}
	seconds, ok := timeformat.ParseClock(text)
	if !ok {
		return 0, newError(timeHint(text))
	}
	minutes := Minutes((seconds + 59) / 60)
	if minutes == 0 {
		return Unlimited, nil
	}
	return minutes, nil
}

var goLike = regexp.MustCompile(`^(?i)(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?:in)?)?(?:(\d{1,6})s)?$`)

// timeHint returns the hint for an invalid time. It has special hints for times in the notation of other programs, such
// as 2h, 90s or 1d12h.
func timeHint(text string) string {
	m := goLike.FindStringSubmatch(text)
	if m == nil || text == "" {
		return "use minutes (90), hours:minutes:seconds (1:30:00) or days-hours (2-12)"
	}
	var seconds int64
	for i, unit := range []int64{86400, 3600, 60, 1} {
		n, _ := strconv.ParseInt("0"+m[i+1], 10, 64)
		seconds += n * unit
	}
	minutes := int64(math.Ceil(float64(seconds) / 60))
	long := fmt.Sprintf("%d:%02d:00", minutes/60, minutes%60)
	return fmt.Sprintf("%s is not in Slurm's time format; use %s, or %d (minutes)", text, long, minutes)
}

// parseDigitsOnly parses a number that consists only of digits.
func parseDigitsOnly(text string) (int64, bool) {
	if text == "" || len(text) > 18 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}
