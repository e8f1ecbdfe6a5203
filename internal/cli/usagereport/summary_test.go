package usagereport

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/accounting"
)

func at(day int) time.Time { return time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC) }

func TestWeeksBeginOnMonday(t *testing.T) {
	t.Parallel()
	for day, want := range map[int]int{22: 16, 23: 23, 29: 23, 30: 30} { // the 29th is a Sunday
		if got := startOf("week", at(day)); !got.Equal(at(want)) {
			t.Errorf("the week of %s begins on %s", at(day), got)
		}
	}
}

func TestNamesBeyondTheTopAreSummedUpInEachPeriod(t *testing.T) {
	t.Parallel()
	usage := []accounting.Usage{
		{User: "ann", Time: at(23), Seconds: 7200}, {User: "bob", Time: at(24), Seconds: 1800}, {User: "zoë", Time: at(25), Seconds: 1800},
		{User: "ann", Time: at(30), Seconds: 3600}, {User: "", Time: at(30), Seconds: 3600},
	}
	want := []Row{
		{Period: "2026-11-23", Name: "ann", Hours: 2, Share: 2.0 / 3},
		{Period: "2026-11-23", Others: true, Hours: 1, Share: 1.0 / 3},
		{Period: "2026-11-30", Name: "", Hours: 1, Share: 0.5},
		{Period: "2026-11-30", Name: "ann", Hours: 1, Share: 0.5},
	}
	if diff := cmp.Diff(want, sumUp(usage, dimensions["user"], "week", 2, 3600)); diff != "" {
		t.Error(diff)
	}
	total := sumUp(usage, dimensions["user"], "", 0, 3600)
	if len(total) != 4 || total[0].Name != "ann" || total[0].Hours != 3 || total[0].Period != "" {
		t.Errorf("without periods: %+v", total)
	}
}
