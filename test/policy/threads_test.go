package policy

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreadsNameTestsThatExist checks that each row of docs/reference/volcano-issues.md names at least one test or story, that all of
// them exist, and that `make test` runs at least one of them.
func TestThreadsNameTestsThatExist(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/volcano-issues.md")
	if err != nil {
		t.Fatal(err)
	}
	tests, left := namesOfTests(t), leftOut(t)
	story := regexp.MustCompile(`story ([a-z0-9_]+)`)
	test := regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	for n, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| Thread ") {
			continue
		}
		if len(cells) != 3 {
			t.Errorf("docs/reference/volcano-issues.md:%d: %d cells, want 3", n+1, len(cells))
			continue
		}
		named, runs := 0, 0
		for _, m := range story.FindAllStringSubmatch(cells[2], -1) {
			named++
			runs++
			if _, err := os.Stat(filepath.Join("../scenarios", m[1]+".txt")); err != nil {
				t.Errorf("docs/reference/volcano-issues.md:%d: there is no story %s", n+1, m[1])
			}
		}
		for _, name := range test.FindAllString(cells[2], -1) {
			named++
			if !tests[name] {
				t.Errorf("docs/reference/volcano-issues.md:%d: there is no %s", n+1, name)
			}
			if !left[name] {
				runs++
			}
		}
		if named == 0 {
			t.Errorf("docs/reference/volcano-issues.md:%d: names neither a test nor a story", n+1)
		} else if runs == 0 {
			t.Errorf("docs/reference/volcano-issues.md:%d: what it names is skipped in make test", n+1)
		}
	}
}

// scheduling are the threads of Volcano's issue tracker about the scheduler, by topic: issues, and pull requests as "PR
// n".
var scheduling = map[string]string{
	"preemption and reclaim": "#3332 #2034 #5925 #1195 #3567 #3291 #1772 #4817 #4607 #2622 #2612 PR 5011 #3079 #3336 #394 #3869 #4658 #3990 #4808 #5105 #5107 #3932 #4679 #5881 #4950 " +
		"#4533 #4374 #5827 #1642 #1720 #2337 #1091 #2772 #4576",
	"queues":                         "#1860 #921 #4492 #2881 #3255 #3684 #5911 #5001 #4235 #1096 #3725 #4261 #5048 PR 4441 #3112 #3606 #2264 #5085 #1014 PR 1079",
	"order":                          "#4165 #688 PR 5161 #2052 #1901 #3095 #2283 #2384 #1258 #947 PR 1011 PR 298 PR 4580 #4690 #1098",
	"gangs":                          "#2462 #5805 #6010 #3373 #4739 #2518 #2377",
	"autoscalers, devices, topology": "#3910 #4030 #691 #4710 #5271 #3616 #4809 #4505 PR 4571 #4713 #5532 #3923 #3160 #1782 #2999 #2965 #1506 #3301 #4998 #3665 #4343 #3877",
	"crashes and races":              "#1073 #2481 #3324 #3478 #5708 PR 5569 #1957 #628 #3445 #4609 #2821 #3852 #4745 #2700 #1417",
}

// controlling are the threads about jobs, queues, plain pods, flows and admission.
var controlling = map[string]string{
	"jobs":                                "#2012 #1519 #3067 #2344 #2837 #4743 #5385 #1099 #3604 #4736 #4828 #743 #2284 #3770 #1718 #1241 #2918 #2897 #2345 #2135 #4072 #1706 #1031",
	"job plugins":                         "#4238 #3289 #4609 #2653 #2492 #403 #452",
	"queues, plain pods, flows, the door": "#1329 #1687 #2068 #3517 #1150 #1737 #3173 #5960 #3563 #3374 #1853 PR 4786 #2518 #4134 #4442 #4090 #2851 #3734 #3237 #182 PR 4396 #3446 PR 3449 #4299 #1438",
}

// unrowed are the threads without a row, with reasons.
var unrowed = map[string]string{
	"#1642": onlyNumber, "#1720": onlyNumber, "#2337": onlyNumber, "#1091": onlyNumber, "#4576": onlyNumber,
	"#1957": onlyNumber, "#628": onlyNumber, "#3445": onlyNumber, "PR 5569": onlyNumber + "; that nothing stops the scheduler is TestNonsenseAnywhereDoesNoHarm",
	"#4299":   "the rights of an agent on nodes, and there is none here",
	"PR 1079": "a page of documentation about quotas; what it explains is in the row of #5085",
	"PR 5161": "it adds policy fairshare, which is in the row of #4165",
	"PR 1011": "it removes action elect, whose place reservations have taken: the row of #947", "PR 298": "it adds the action that PR 1011 removes",
}

const onlyNumber = "nothing but its number is known to us"

// TestEveryThreadHasARow compares docs/reference/volcano-issues.md with the lists, and checks that the exceptions are needed.
func TestEveryThreadHasARow(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/volcano-issues.md")
	if err != nil {
		t.Fatal(err)
	}
	thread := regexp.MustCompile(`(?:PR |#)\d+`)
	rows, heading := map[string]bool{}, map[string]bool{}
	for n, line := range strings.Split(string(page), "\n") {
		if strings.HasPrefix(line, "## ") {
			clear(heading)
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 3 {
			continue
		}
		if strings.Contains(cells[0], "source") && strings.TrimSpace(cells[0]) != "in the source" {
			t.Errorf("docs/reference/volcano-issues.md:%d: %q, want \"in the source\"", n+1, cells[0])
		}
		for _, name := range thread.FindAllString(cells[0], -1) {
			if heading[name] {
				t.Errorf("docs/reference/volcano-issues.md:%d: %s has a row under this heading already", n+1, name)
			}
			rows[name], heading[name] = true, true
		}
	}
	all := maps.Clone(scheduling)
	maps.Copy(all, controlling)
	for about, list := range all {
		for _, name := range thread.FindAllString(list, -1) {
			switch why, excepted := unrowed[name]; {
			case excepted == rows[name] && excepted:
				t.Errorf("%s, about %s, has a row, and a reason to have none: %s", name, about, why)
			case !excepted && !rows[name]:
				t.Errorf("%s, about %s, has no row in docs/reference/volcano-issues.md", name, about)
			}
		}
	}
}

// leftOut returns the tests that `make test` skips: tests that begin with a check whether to measure, and the tests of
// test/bench.
func leftOut(t *testing.T) map[string]bool {
	t.Helper()
	skipped := regexp.MustCompile(`(?m)^func (Test\w+)\(\w+ \*testing\.T\) \{\n(?:\t\w+\.Helper\(\)\n)?\t(?:measured\(|if os\.Getenv\("VC_BENCH"\) == "")`)
	every := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	names := map[string]bool{}
	eachTestFile(t, func(path, text string) {
		pattern := skipped
		if filepath.Dir(path) == filepath.FromSlash("../../test/bench") {
			pattern = every
		}
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			names[m[1]] = true
		}
	})
	if !names["TestCycleFloor"] || !names["TestForecastFloor"] {
		t.Error("the measurements of internal/scheduler are not seen to be skipped")
	}
	return names
}

// namesOfTests returns the names of all Go tests of the project.
func namesOfTests(t *testing.T) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	names := map[string]bool{}
	eachTestFile(t, func(_, text string) {
		for _, m := range function.FindAllStringSubmatch(text, -1) {
			names[m[1]] = true
		}
	})
	return names
}

// eachTestFile calls visit for each file of the project with Go tests.
func eachTestFile(t *testing.T, visit func(path, text string)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		visit(path, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
