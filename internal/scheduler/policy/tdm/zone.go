package tdm

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// zone is the daily period during which the nodes of a zone are lent. If the end is not later than the start, the
// period ends on the next day.
type zone struct{ from, to clock }

// clock is a time of day.
type clock struct{ hour, minute int }

// parseZone parses HH:MM-HH:MM.
func parseZone(text string) (zone, error) {
	first, last, ok := strings.Cut(text, "-")
	from, err := parseClock(first)
	to, err2 := parseClock(last)
	if !ok || err != nil || err2 != nil {
		return zone{}, fmt.Errorf("must be HH:MM-HH:MM, not %q", text)
	}
	return zone{from, to}, nil
}

func parseClock(text string) (clock, error) {
	hours, minutes, ok := strings.Cut(strings.TrimSpace(text), ":")
	hour, err := strconv.ParseUint(hours, 10, 8)
	minute, err2 := strconv.ParseUint(minutes, 10, 8)
	areNumbers := ok && err == nil && err2 == nil
	if !areNumbers || hour > 23 || minute > 59 {
		return clock{}, fmt.Errorf("must be HH:MM, not %q", text)
	}
	return clock{int(hour), int(minute)}, nil
}

// timeOnDay returns the time at which the clock shows c on the day that is the given number of days after day. If
// daylight saving time skips that time, it returns the time to which time.Date normalises it.
func (c clock) timeOnDay(day time.Time, after int) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day()+after, c.hour, c.minute, 0, 0, day.Location())
}

func (c clock) isEarlierThan(d clock) bool { return c.hour*60+c.minute < d.hour*60+d.minute }

// stateAndChange reports whether the zone is open, and when this changes next. now must be in the time zone of the
// zone's hours.
func (z zone) stateAndChange(now time.Time) (open bool, change time.Time) {
	next := 0
	if !z.from.isEarlierThan(z.to) {
		next = 1
	}
	for day := -2; day <= 2; day++ { // check several days, because a day with a clock change does not have 24 hours
		from, to := z.from.timeOnDay(now, day), z.to.timeOnDay(now, day+next)
		if !now.Before(from) && now.Before(to) {
			open = true
		}
		for _, border := range []time.Time{from, to} {
			if border.After(now) && (change.IsZero() || border.Before(change)) {
				change = border
			}
		}
	}
	return open, change
}
