package scheduler

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// TestEverythingThatCanBeConfiguredHasAStory looks for every action, policy,
// switch and argument in the stories of test/scenarios.
func TestEverythingThatCanBeConfiguredHasAStory(t *testing.T) {
	files, err := filepath.Glob("../../test/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	told := func(what string, words ...string) {
		for _, word := range words {
			if !strings.Contains(all.String(), word) {
				t.Errorf("%s: no story of %s", what, word)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(actions)) {
		told("action", name)
		if c, ok := actions[name].(session.Configurable); ok {
			told("action "+name, c.Reads()...)
		}
	}
	for _, name := range Policies() {
		told("policy", "name: "+name)
		reads := policies[name](config.Plugin{Name: name}, func(string) {}).Reads()
		told("policy "+name, reads.Arguments...)
		for _, key := range reads.Switches {
			if !switched(all.String(), name, key) {
				t.Errorf("policy %s: no story of its switch %s", name, key)
			}
		}
	}
}

// switched says whether a switch stands in the entry of a policy, on its line or
// on those below it.
func switched(text, policy, key string) bool {
	for {
		_, rest, found := strings.Cut(text, "name: "+policy)
		if !found {
			return false
		}
		entry, _, _ := strings.Cut(rest, "name: ")
		if (strings.HasPrefix(entry, ",") || strings.HasPrefix(entry, "\n") || strings.HasPrefix(entry, "}")) && strings.Contains(entry, key) {
			return true
		}
		text = rest
	}
}

// elsewhere are reasons that are shown by other tests than stories.
var elsewhere = map[reason.Code]string{
	reason.PodGroupMissing: "TestEveryGateHasAReasonWithinASecond",
	reason.StorageFull:     "TestVolumesAgree",
	reason.ExtenderRefused: "TestTheServerHasItsSay",
	reason.ExtenderFailed:  "TestTheServerHasItsSay",
	reason.ByPolicy:        "examples/custom-policy",
}

// TestEveryReasonToWaitHasAStory looks for the reasons of the scheduler, up to Guaranteed in the table, in the stories'
// answers.
func TestEveryReasonToWaitHasAStory(t *testing.T) {
	files, err := filepath.Glob("../../test/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	shown := map[string]bool{}
	word := regexp.MustCompile(`[A-Z][A-Za-z]+`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "#") {
				continue
			}
			for _, w := range word.FindAllString(line, -1) {
				shown[w] = true
			}
		}
	}
	for _, r := range reason.Table {
		if _, known := elsewhere[r.Code]; !shown[string(r.Code)] && !known {
			t.Errorf("%s: no story shows it", r.Code)
		}
		if r.Code == reason.Guaranteed {
			return
		}
	}
	t.Error("Guaranteed is not in the table of reasons: say anew where the scheduler's end")
}
