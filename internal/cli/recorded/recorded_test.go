package recorded

import (
	"testing"
	"time"
)

var now = time.Date(2026, 11, 29, 15, 30, 0, 0, time.UTC)

func TestTimesAreAgesDatesOrWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Time{
		"90m":                  now.Add(-90 * time.Minute),
		"0s":                   now,
		"7d":                   now.AddDate(0, 0, -7),
		"2w":                   now.AddDate(0, 0, -14),
		"now":                  now,
		"yesterday":            time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC),
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		"2026-11-01T10:15:00Z": time.Date(2026, 11, 1, 10, 15, 0, 0, time.UTC),
	} {
		if got, err := ParseTime("since", text, now); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-3h", "-7d", "99999999999d", "soonish"} {
		if got, err := ParseTime("since", text, now); err == nil {
			t.Errorf("%q is accepted as %v", text, got)
		}
	}
}

func TestAnEmptyIntervalIsAnError(t *testing.T) {
	t.Parallel()
	if _, _, err := ParseInterval("1h", "2h", now); err == nil {
		t.Error("an interval that ends before it begins is accepted")
	}
}
