package optionvalue

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// roundTrip fuzzes a parse function: parsing a formatted value must return the same value.
func roundTrip[T any](f *testing.F, parse func(string) (T, error), show func(T) string, corpus ...string) {
	for _, text := range corpus {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once, err := parse(text)
		if err != nil {
			return
		}
		twice, err := parse(show(once))
		if err != nil {
			t.Fatalf("%q is read, but not %q, which it is written as: %v", text, show(once), err)
		}
		if diff := cmp.Diff(once, twice); diff != "" {
			t.Fatalf("%q is written %q, which is something else: %s", text, show(once), diff)
		}
	})
}

func FuzzTime(f *testing.F) {
	roundTrip(f, ParseTime, Minutes.String, "90", "1:30", "1:30:00", "2-12:30:01", "UNLIMITED", "0", "2h")
}

func FuzzMemory(f *testing.F) {
	roundTrip(f, ParseMemory, MiB.String, "4096", "4G", "1K", "1T", "1.5G", "4Gi", "4GB")
}

func FuzzCount(f *testing.F) { roundTrip(f, ParseCount, Count.String, "4", "2-8", "1k", "1-15:4") }

func FuzzArray(f *testing.F) {
	roundTrip(f, ParseArray, Array.String, "0-15", "1,3,5-7", "0-15:4%2", "[0-3]", "%4")
}

func FuzzGres(f *testing.F) {
	list := func(text string) (Gres, error) { return parseOneGres(text) }
	roundTrip(f, list, Gres.String, "gpu", "gpu:2", "gpu:a100:8", "shard:1k")
}

func FuzzSignal(f *testing.F) { roundTrip(f, ParseSignal, Signal.String, "B:USR2@30", "10", "SIGTERM") }

func FuzzJob(f *testing.F) {
	roundTrip(f, ParseJob, Job.String, "42", "42_7", "42_[1-3,9]", "42.0", "42_7.batch", "train_3", "3d.model")
}

func FuzzFeatures(f *testing.F) {
	roundTrip(f, ParseFeatures, Features.String, "a|b&c", "(a|b)&(c|d)", "a|(b&c)")
}

func FuzzDate(f *testing.F) {
	now := time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)
	for _, tense := range []Tense{Coming, Past} {
		for _, text := range []string{"now+1hour", "16:00", "4:15pm", "2026-12-24T18:00", "12/24", "noon tomorrow"} {
			f.Add(text, int(tense))
		}
	}
	f.Fuzz(func(t *testing.T, text string, tense int) {
		at, err := ParseDate(text, now, Tense(tense&1))
		if err != nil || at.Year() < 0 || at.Year() > 9999 {
			return
		}
		again, err := ParseDate(at.Format("2006-01-02T15:04:05"), now, Coming)
		if err != nil || !again.Equal(at) {
			t.Fatalf("%q is %s, which is read as %s, %v", text, at, again, err)
		}
	})
}
