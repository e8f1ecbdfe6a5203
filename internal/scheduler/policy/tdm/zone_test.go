package tdm

import (
	"testing"
	"time"
	_ "time/tzdata" // the machine may have no time zone data

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

func TestZonesOpenAndClose(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	cases := map[string]struct {
		zone, now string
		open      bool
		change    string
	}{
		"before it opens":                                   {"08:00-10:00", "2026-06-01 07:59", false, "2026-06-01 08:00"},
		"from the minute it opens":                          {"08:00-10:00", "2026-06-01 08:00", true, "2026-06-01 10:00"},
		"to the minute it closes":                           {"08:00-10:00", "2026-06-01 10:00", false, "2026-06-02 08:00"},
		"across midnight, in the evening":                   {"22:00-06:00", "2026-06-01 23:00", true, "2026-06-02 06:00"},
		"across midnight, in the morning (Volcano: closed)": {"22:00-06:00", "2026-06-02 05:00", true, "2026-06-02 06:00"},
		"equal times are a whole day":                       {"06:00-06:00", "2026-06-02 05:00", true, "2026-06-02 06:00"},
		"the night that is an hour short":                   {"22:00-06:00", "2026-03-29 05:59", true, "2026-03-29 06:00"},
		"the night that is an hour long":                    {"22:00-06:00", "2026-10-25 05:59", true, "2026-10-25 06:00"},
		"an hour that does not exist":                       {"02:30-04:00", "2026-03-29 01:59", false, "2026-03-29 03:30"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			z, err := parseZone(c.zone)
			if err != nil {
				t.Fatal(err)
			}
			open, change := z.stateAndChange(at(c.now))
			if open != c.open || !change.Equal(at(c.change)) {
				t.Errorf("open %v until %s, want %v until %s", open, change, c.open, c.change)
			}
		})
	}
}

// TestNothingChangesBeforeTheBorder checks that a zone does not change before the time it returned, for any zone
// and day, including days with clock changes.
func TestNothingChangesBeforeTheBorder(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		location, err := time.LoadLocation(rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}).Draw(t, "location"))
		if err != nil {
			t.Fatal(err)
		}
		clocks := rapid.Custom(func(t *rapid.T) clock {
			return clock{rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute")}
		})
		z := zone{clocks.Draw(t, "from"), clocks.Draw(t, "to")}
		now := time.Unix(rapid.Int64Range(1767225600, 1798761600).Draw(t, "now"), 0).In(location)
		open, change := z.stateAndChange(now)
		if !change.After(now) || change.Sub(now) > 26*time.Hour {
			t.Fatalf("at %s the next border is %s", now, change)
		}
		for probe := now; probe.Before(change); probe = probe.Add(7 * time.Minute) {
			if now, _ := z.stateAndChange(probe); now != open {
				t.Fatalf("open %v at the start, %v at %s, border %s", open, now, probe, change)
			}
		}
	})
}

func FuzzZone(f *testing.F) {
	for _, seed := range []string{"", "08:00-10:00", "8:0-9:1", "24:00-01:00", "-1:00-02:00", "08:00", "08:00-10:00-12:00", "a:b-c:d", " 01:00 - 02:00 "} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		z, err := parseZone(text)
		if err != nil {
			return
		}
		for _, c := range []clock{z.from, z.to} {
			if c.hour < 0 || c.hour > 23 || c.minute < 0 || c.minute > 59 {
				t.Errorf("%q is read as %+v", text, z)
			}
		}
	})
}
