package tdm

import (
	"slices"
	"testing"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

func TestAnUnknownTimeZoneIsReported(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string][]string{
		"Europe/Berlin": nil,
		"Mars/Olympus":  {`argument tdm.time-zone: "Mars/Olympus" is not a valid time zone; the machine's time zone is used`},
	} {
		var warnings []string
		New(config.Plugin{Arguments: config.Arguments{timeZone: zone}}, func(text string) { warnings = append(warnings, text) })
		if !slices.Equal(warnings, want) {
			t.Errorf("%s: %q, want %q", zone, warnings, want)
		}
	}
}

func TestAnInvalidPeriodIsReported(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		period  time.Duration
		isValid bool
	}{
		"": {time.Minute, true}, "90s": {90 * time.Second, true}, "soon": {time.Minute, false}, "0s": {time.Minute, false}, "-5m": {time.Minute, false},
	} {
		warnings := 0
		got := parsePeriod(text, func(string, ...any) { warnings++ })
		if isValid := warnings == 0; got != want.period || isValid != want.isValid {
			t.Errorf("%q: %s, %d warnings; want %s, valid: %v", text, got, warnings, want.period, want.isValid)
		}
	}
}

// TestEvictionsOfOneGangAreCounted evicts pods of a gang of which one pod at most may be unavailable.
func TestEvictionsOfOneGangAreCounted(t *testing.T) {
	t.Parallel()
	shape := &model.Shape{Spec: podshape.Spec{Notes: map[string]string{keys.Preemptable: "true"}}}
	gang := &model.Gang{Annotations: map[string]string{keys.JDBMaxUnavailable: "1"}}
	gang.Tasks = []*model.Task{{Gang: gang, Shape: shape}, {Gang: gang, Shape: shape}}
	gang.Count[model.Running] = 2
	p := &Policy{}
	p.nodes.Values = []string{""}
	guard := p.grantGuestEviction(&framework.Attack{Taker: &framework.Job{Gang: &model.Gang{}}})

	first, second := gang.Tasks[:1], gang.Tasks[1:]
	mayEvict := func(victims []*model.Task) bool {
		ok, _ := guard.May(victims)
		return ok
	}
	if !mayEvict(first) || !mayEvict(second) || mayEvict(gang.Tasks) {
		t.Error("want one eviction of either pod, and not of both at once")
	}
	guard.Out(first, 1)
	if mayEvict(second) {
		t.Error("the second pod may be evicted after the first")
	}
	guard.Out(first, -1)
	if !mayEvict(second) {
		t.Error("the second pod may not be evicted although the eviction of the first was withdrawn")
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		of   int
		want int
		ok   bool
	}{
		"a number":                         {"3", 10, 3, true},
		"a part":                           {"50%", 10, 5, true},
		"a part is rounded up":             {"1%", 10, 1, true},
		"nothing":                          {"0%", 10, 0, true},
		"more than all is all":             {"250%", 10, 10, true},
		"a part beyond all bounds is all":  {"9223372036854775807%", 10, 10, true},
		"below zero":                       {"-1", 10, -1, false},
		"a part below zero":                {"-10%", 10, -1, false},
		"no number":                        {"some", 10, 0, false},
		"no annotation":                    {"", 10, 0, false},
		"a number that is no int":          {"99999999999999999999", 10, 9223372036854775807, false},
		"a part that is no int is no part": {"99999999999999999999%", 10, 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, ok := parseShare(c.text, c.of); got != c.want && ok || ok != c.ok {
				t.Errorf("%s of %d is %d, %v; want %d, %v", c.text, c.of, got, ok, c.want, c.ok)
			}
		})
	}
}
