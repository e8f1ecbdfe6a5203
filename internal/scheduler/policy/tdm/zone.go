package tdm

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// zone is when nodes of one name are lent: every day from one time of the clock
// to another, on the next day when that is not later.
type zone struct{ from, to clock }

// clock is a time of day.
type clock struct{ hour, minute int }

// parseZone reads HH:MM-HH:MM.
func parseZone(text string) (zone, error) {
	first, last, ok := strings.Cut(text, "-")
	from, err := parseClock(first)
	to, err2 := parseClock(last)
	if !ok || err != nil || err2 != nil {
		return zone{}, fmt.Errorf("want HH:MM-HH:MM, have %q", text)
	}
	return zone{from, to}, nil
}

func parseClock(text string) (clock, error) {
	hours, minutes, ok := strings.Cut(strings.TrimSpace(text), ":")
	hour, err := strconv.ParseUint(hours, 10, 8)
	minute, err2 := strconv.ParseUint(minutes, 10, 8)
	if !ok || err != nil || err2 != nil || hour > 23 || minute > 59 {
		return clock{}, fmt.Errorf("want HH:MM, have %q", text)
	}
	return clock{int(hour), int(minute)}, nil
}

// on is the clock's time on the day that is some days after another. Where the
// clocks are set forward over it, it is the moment they show instead.
func (c clock) on(day time.Time, after int) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day()+after, c.hour, c.minute, 0, 0, day.Location())
}

func (c clock) before(d clock) bool { return c.hour*60+c.minute < d.hour*60+d.minute }

// at says whether the zone is open, and when that changes next. now has the
// location that the zone's times are of.
func (z zone) at(now time.Time) (open bool, change time.Time) {
	next := 0
	if !z.from.before(z.to) {
		next = 1
	}
	for day := -2; day <= 2; day++ { // days around: those of changed clocks are not 24 hours
		from, to := z.from.on(now, day), z.to.on(now, day+next)
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
