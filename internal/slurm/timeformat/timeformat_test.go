package timeformat

import (
	"testing"
	"time"
)

func TestMoments(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, zone)
	at := func(year int, month time.Month, day, hour, minute int) time.Time {
		return time.Date(year, month, day, hour, minute, 5, 0, zone)
	}
	for name, c := range map[string]struct {
		format string
		moment time.Time
		want   string
	}{
		"nothing said":                              {"", at(2026, 2, 28, 22, 18), "2026-02-28T22:18:05"},
		"standard":                                  {"standard", at(2026, 2, 28, 22, 18), "2026-02-28T22:18:05"},
		"a word that means nothing":                 {"iso", at(2026, 2, 28, 22, 18), "2026-02-28T22:18:05"},
		"in the zone of now":                        {"", time.Date(2026, 2, 28, 21, 18, 5, 0, time.UTC), "2026-02-28T22:18:05"},
		"relative, today":                           {"relative", at(2026, 3, 1, 0, 3), "00:03:05"},
		"relative, yesterday in another month":      {"relative", at(2026, 2, 28, 23, 59), "Ystday 23:59"},
		"relative, tomorrow":                        {"relative", at(2026, 3, 2, 0, 0), "Tomorr 00:00"},
		"relative, within a week":                   {"relative", at(2026, 3, 6, 8, 0), "Fri 08:00"},
		"relative, a week ahead":                    {"relative", at(2026, 3, 8, 8, 0), "8 Mar 08:00"},
		"relative, earlier in the year":             {"relative", at(2026, 1, 9, 8, 0), "9 Jan 08:00"},
		"relative, in another year":                 {"relative", at(2025, 12, 31, 8, 0), "31 Dec 2025"},
		"letters of a date":                         {"%d.%m.%y %R", at(2026, 2, 28, 22, 18), "28.02.26 22:18"},
		"all letters":                               {"%Y %y %m %d %e %H %I %M %S %p %a %A %b %h %B %j", at(2026, 2, 8, 22, 18), "2026 26 02 08  8 22 10 18 05 PM Sun Sunday Feb Feb February 039"},
		"letters that stand for several":            {"%F %T %D %x %X %r %c %z %Z", at(2026, 2, 8, 22, 18), "2026-02-08 22:18:05 02/08/26 02/08/26 22:18:05 10:18:05 PM Sun Feb  8 22:18:05 2026 +0100 CET"},
		"seconds of the epoch":                      {"%s", time.Unix(1_772_363_885, 0), "1772363885"},
		"breaks, percent signs and unknown letters": {"a%tb%nc%%%Q%", at(2026, 2, 28, 22, 18), "a\tb\nc%%Q%"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := NewStyle(c.format).FormatTime(c.moment, now); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestDurationsAreParsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"5": "5m0s", "1:30": "1m30s", "1:00:00": "1h0m0s", "1-2": "26h0m0s", "1-2:3": "26h3m0s", "0-0:0:1": "1s", "0": "0s"} {
		if got, ok := ParseClock(text); !ok || (time.Duration(got)*time.Second).String() != want {
			t.Errorf("%s is %d seconds, %v; want %s", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "x", "1:2:3:4", "1-2:3:4:5", "1h", "-1", "1:-2", "1-", "+5", "9223372036854775807", "3660001-0"} {
		if got, ok := ParseClock(text); ok {
			t.Errorf("%s is taken for %d seconds", text, got)
		}
	}
}
