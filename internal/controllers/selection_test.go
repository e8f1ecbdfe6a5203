package controllers

import (
	"slices"
	"strings"
	"testing"
)

func TestSelect(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		list string // separated by spaces
		on   string // names separated by spaces
	}{
		"an empty list is all of them":              {"", strings.Join(known, " ")},
		"the default is all of them":                {strings.Join(DefaultSelection(), " "), strings.Join(known, " ")},
		"only what is named":                        {"job-controller +queue-controller", "job-controller queue-controller"},
		"all but one":                               {"* -cronjob-controller", strings.Join(slices.DeleteFunc(slices.Clone(known), func(n string) bool { return n == "cronjob-controller" }), " ")},
		"the star may come last":                    {"-cronjob-controller *", strings.Join(slices.DeleteFunc(slices.Clone(known), func(n string) bool { return n == "cronjob-controller" }), " ")},
		"without a star what is not named is off":   {"-cronjob-controller", ""},
		"one with a capital letter":                 {"hyperNode-controller", "hyperNode-controller"},
		"what is not here may be off":               {"job-controller -colocation-config-controller", "job-controller"},
		"clean-up is a controller by its own name":  {"job-controller -gc-controller", "job-controller"},
		"the star beside a name that is on already": {"* +job-controller", strings.Join(known, " ")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := ParseSelection(strings.Fields(c.list))
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range known {
				if want := slices.Contains(strings.Fields(c.on), n); s.IsEnabled(n) != want {
					t.Errorf("%s is on: %v, want %v", n, s.IsEnabled(n), want)
				}
			}
		})
	}
	if !(Selection{}).IsEnabled(jobController) {
		t.Error("by default nothing runs")
	}
}

func TestSelectionsThatCannotBe(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ list, says string }{
		"a name twice":                       {"job-controller job-controller", "job-controller is specified twice"},
		"a name on and off":                  {"+job-controller -job-controller", "job-controller is specified twice"},
		"a name that nobody has":             {"* -hypernode-controller", "hyperNode-controller"},
		"a controller of Volcano's not here": {"* sharding-controller", "vcd does not include"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := ParseSelection(strings.Fields(c.list)); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error that says %q", err, c.says)
			}
		})
	}
}
