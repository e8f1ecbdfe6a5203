package queues

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/tui/screenapi"
)

func TestLimitsOfALine(t *testing.T) {
	t.Parallel()
	before := limits{"weight": "2", "guarantee": "-", "deserved": "cpu=8", "capability": "cpu=16"}
	cases := map[string]struct {
		line string
		want screenapi.QueueEdit
	}{
		"what is as it was is not changed":       {before.formatLimits(), screenapi.QueueEdit{}},
		"what is not named stays":                {"weight=3", screenapi.QueueEdit{Weight: "3"}},
		"a dash takes a limit away":              {"capability=-", screenapi.QueueEdit{Capability: "-"}},
		"amounts may stand in any order":         {"deserved=memory=1Gi,cpu=8", screenapi.QueueEdit{Deserved: "cpu=8,memory=1Gi"}},
		"the same amount in other words is none": {"deserved=cpu=8000m", screenapi.QueueEdit{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, err := parseLimits(tc.line)
			if err != nil {
				t.Fatal(err)
			}
			got, words := before.changesFromTo(after)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (got == screenapi.QueueEdit{}) != (len(words) == 0) {
				t.Errorf("%v is said of %+v", words, got)
			}
		})
	}
}

func TestInvalidLimitsAreReported(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"colour=red":              `unknown limit "colour"`,
		"weight=0":                "1 to 65535",
		"weight=2 weight=3":       "twice",
		"deserved=cpu":            "NAME=AMOUNT",
		"capability=cpu=-1":       "must not be negative",
		"guarantee==8":            "NAME=AMOUNT",
		"deserved=cpu=1,memory=x": `"memory=x"`,
	} {
		if _, err := parseLimits(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func FuzzLimits(f *testing.F) {
	f.Add("weight=4 guarantee=nvidia.com/gpu=64 deserved=- capability=cpu=1,memory=2Gi")
	f.Fuzz(func(t *testing.T, line string) {
		read, err := parseLimits(line)
		if err != nil {
			return
		}
		parts := []string{}
		for _, name := range limitNames {
			if value, ok := read[name]; ok {
				parts = append(parts, name+"="+value)
			}
		}
		again, err := parseLimits(strings.Join(parts, " "))
		if err != nil || cmp.Diff(read, again) != "" {
			t.Errorf("%q is read as %v, and that as %v (%v)", line, read, again, err)
		}
	})
}
