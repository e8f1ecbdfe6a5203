package figures

import (
	"strings"
	"testing"
)

func TestVerdictsOfFigures(t *testing.T) {
	for name, row := range map[string]struct {
		figure Figure
		fails  bool
		says   string
	}{
		"a floor that is kept":                               {Figure{Name: Binds, Value: 0.8}, false, ""},
		"a floor that is missed":                             {Figure{Name: Binds, Value: 0.7}, true, "misses the floor"},
		"a floor that is missed with an excuse":              {Figure{Name: Way + "5000x1", Value: 0.15}, false, "held instead: " + WayOfMost},
		"what is held instead is missed":                     {Figure{Name: WayOfMost, Value: 0.1}, true, "misses the floor"},
		"an excused floor that is kept all the same":         {Figure{Name: Way + "5000x1", Value: 0.7}, false, ""},
		"the best that can be reached is under the floor":    {Figure{Name: MostAlone + InProcessorTime, Value: 0.55}, false, ""},
		"the best that can be reached has come to the floor": {Figure{Name: MostAlone + InProcessorTime, Value: 0.61}, true, "no longer true"},
		"the same of jobs whose pods are only created":       {Figure{Name: SmallAlone + InProcessorTime, Value: 0.5}, true, "no longer true"},
		"a line that is in no table":                         {Figure{Name: "other", Value: 1}, false, ""},
	} {
		fails, says := Verdict(row.figure)
		if fails != row.fails || (row.says == "") != (says == "") || !strings.Contains(says, row.says) {
			t.Errorf("%s: fails %v, %q", name, fails, says)
		}
	}
}

func TestExcusesAreOfLines(t *testing.T) {
	for name, e := range Excuses {
		bound, timed := strings.CutSuffix(e.Bound, InProcessorTime)
		if LineOf(name).Floor == 0 || LineOf(e.Instead).Floor == 0 || LineOf(bound).Better != Higher || !timed || e.Why == "" {
			t.Errorf("%s: excuse %+v has no floor to miss, none instead, or no bound", name, e)
		}
	}
}

func TestNamesOfLinesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range Lines {
		if seen[l.Name] {
			t.Errorf("%s is there twice", l.Name)
		}
		seen[l.Name] = true
	}
}
