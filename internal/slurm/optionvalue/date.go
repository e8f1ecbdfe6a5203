package optionvalue

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// dateHint lists the formats of a date.
const dateHint = "use HH:MM[:SS], YYYY-MM-DD[THH:MM[:SS]], MM/DD[/YY][-HH:MM[:SS]], today, tomorrow, noon, midnight, or now+2hours"

// clocks maps names to times of day.
var clocks = map[string]time.Duration{"midnight": 0, "elevenses": 11 * time.Hour, "noon": 12 * time.Hour, "fika": 15 * time.Hour, "teatime": 16 * time.Hour}

// units lists the units of now+N.
var units = map[string]time.Duration{"": time.Second, "second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour}

// Tense determines which time is meant by a date without a year, or by a time without a date.
type Tense int

// The tenses.
const (
	// Coming selects the next such time, for example for the start of a job.
	Coming Tense = iota
	// Past selects the last such time, for example for the first day in a list of jobs.
	Past
)

// ParseDate parses a time as in --begin and sacct's -S and -E, in the time zone of now:
// HH:MM[:SS] [AM|PM], MMDD[YY], MM/DD[/YY][-HH:MM[:SS]], MM.DD[.YY], YYYY-MM-DD[THH:MM[:SS]], now[+N[unit]], today,
// tomorrow, midnight, noon, elevenses, fika, teatime. A date and a time may be combined in either order.
func ParseDate(text string, now time.Time, tense Tense) (time.Time, error) {
	lower := strings.ToLower(strings.TrimSpace(text))
	if rest, relative := strings.CutPrefix(lower, "now"); relative {
		return parseFromNow(strings.ReplaceAll(rest, " ", ""), now)
	}
	words := splitDateWords(lower)
	var d dateParts
	for _, word := range words {
		if !d.readWord(word, now) {
			return time.Time{}, newError(dateHint)
		}
	}
	if len(words) == 0 || (!d.hasDay && !d.hasClock) {
		return time.Time{}, newError(dateHint)
	}
	return d.toTime(now, tense)
}

var twelveHours = regexp.MustCompile(`(\d)\s*(am|pm)\b`)

// splitDateWords splits a text at blanks and at the T or - between date and time. AM and PM remain attached to the
// time.
func splitDateWords(lower string) []string {
	lower = twelveHours.ReplaceAllString(lower, "$1$2")
	for _, form := range []*regexp.Regexp{isoDate, slashDate} {
		if m := form.FindStringSubmatch(lower); m != nil {
			lower = m[1] + " " + m[2]
		}
	}
	return strings.Fields(lower)
}

var isoDate = regexp.MustCompile(`^(\d{4}-\d{1,2}-\d{1,2})t(.+)$`)

var slashDate = regexp.MustCompile(`^(\d{1,2}[/.]\d{1,2}(?:[/.]\d{2,4})?)-(\d{1,2}:.+)$`)

func parseFromNow(rest string, now time.Time) (time.Time, error) {
	if rest == "" {
		return now, nil
	}
	sign := int64(1)
	if rest[0] == '-' {
		sign = -1
	} else if rest[0] != '+' {
		return time.Time{}, newError(dateHint)
	}
	count := strings.TrimRight(rest[1:], "abcdefghijklmnopqrstuvwxyz")
	n, ok := parseDigitsOnly(count)
	unit, known := units[strings.TrimSuffix(rest[1+len(count):], "s")]
	if !ok || !known || n > int64(100*366*24*time.Hour/unit) {
		return time.Time{}, newError("use now+NUMBER with seconds, minutes, hours, days or weeks, for example now+2hours")
	}
	return now.Add(time.Duration(sign*n) * unit), nil
}

// dateParts holds the parts of a date that have been parsed so far.
type dateParts struct {
	year, month, day int
	hasDay, hasYear  bool
	clock            time.Duration
	hasClock         bool
}

// readWord parses one word. It returns false if the word is invalid, or if it is a second date or a second time.
func (d *dateParts) readWord(word string, now time.Time) bool {
	if at, named := clocks[word]; named && !d.hasClock {
		d.clock, d.hasClock = at, true
		return true
	}
	if (word == "today" || word == "tomorrow") && !d.hasDay {
		day := now
		if word == "tomorrow" {
			day = now.AddDate(0, 0, 1)
		}
		d.year, d.month, d.day, d.hasDay, d.hasYear = day.Year(), int(day.Month()), day.Day(), true, true
		return true
	}
	if strings.Contains(word, ":") && !d.hasClock {
		return d.readClock(word)
	}
	return !d.hasDay && d.readDay(word)
}

var clockPattern = regexp.MustCompile(`^(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(am|pm)?$`)

func (d *dateParts) readClock(word string) bool {
	m := clockPattern.FindStringSubmatch(word)
	if m == nil {
		return false
	}
	hour, minute, second := parseDigits(m[1]), parseDigits(m[2]), parseDigits(m[3])
	if m[4] != "" {
		if hour < 1 || hour > 12 {
			return false
		}
		hour %= 12
		if m[4] == "pm" {
			hour += 12
		}
	}
	if hour > 23 || minute > 59 || second > 59 {
		return false
	}
	d.clock, d.hasClock = time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute+time.Duration(second)*time.Second, true
	return true
}

var dayPatterns = []struct {
	pattern          *regexp.Regexp
	month, day, year int // which group
}{
	{regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})$`), 2, 3, 1},
	{regexp.MustCompile(`^(\d{1,2})[/.](\d{1,2})(?:[/.](\d{2}|\d{4}))?$`), 1, 2, 3},
	{regexp.MustCompile(`^(\d{2})(\d{2})(\d{2}|\d{4})?$`), 1, 2, 3},
}

func (d *dateParts) readDay(word string) bool {
	for _, form := range dayPatterns {
		m := form.pattern.FindStringSubmatch(word)
		if m == nil {
			continue
		}
		d.month, d.day, d.hasDay = parseDigits(m[form.month]), parseDigits(m[form.day]), true
		if text := m[form.year]; text != "" {
			if d.year, d.hasYear = parseDigits(text), true; len(text) == 2 {
				d.year += 2000
			}
		}
		isMonth := d.month >= 1 && d.month <= 12
		return isMonth && d.day >= 1 && d.day <= 31
	}
	return false
}

// toTime combines the parts into a time. The tense determines missing parts.
func (d *dateParts) toTime(now time.Time, tense Tense) (time.Time, error) {
	at := func(year int, month time.Month, day int) time.Time {
		return time.Date(year, month, day, 0, 0, int(d.clock/time.Second), 0, now.Location())
	}
	if !d.hasDay {
		today := at(now.Year(), now.Month(), now.Day())
		switch {
		case tense == Coming && today.Before(now):
			return at(now.Year(), now.Month(), now.Day()+1), nil
		case tense == Past && today.After(now):
			return at(now.Year(), now.Month(), now.Day()-1), nil
		}
		return today, nil
	}
	year := d.year
	if !d.hasYear {
		year = now.Year()
		endOfDay := at(year, time.Month(d.month), d.day+1)
		switch {
		case tense == Coming && !endOfDay.After(now):
			year++
		case tense == Past && at(year, time.Month(d.month), d.day).After(now):
			year--
		}
	}
	moment := at(year, time.Month(d.month), d.day)
	if moment.Day() != d.day && moment.Add(-d.clock).Day() != d.day {
		return time.Time{}, newError("the date does not exist")
	}
	return moment, nil
}

func parseDigits(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
