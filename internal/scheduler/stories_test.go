package scheduler

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vc-batch/vc/api/reason"
)

// elsewhere lists reasons that are covered by other tests than stories.
var elsewhere = map[reason.Code]string{
	reason.ByPolicy: "examples/custom-policy", // no policy from outside is registered here
}

// TestEveryReasonToWaitHasAStory searches the stories' answers for the scheduler's reasons, up to Guaranteed in the
// table, as a code or as a sentence.
func TestEveryReasonToWaitHasAStory(t *testing.T) {
	files, err := filepath.Glob("../../test/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	shown := map[string]bool{}
	var all strings.Builder
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
			all.WriteString(line + "\n")
			for _, w := range word.FindAllString(line, -1) {
				shown[w] = true
			}
		}
	}
	for _, r := range reason.Table {
		if _, known := elsewhere[r.Code]; !shown[string(r.Code)] && !strings.Contains(all.String(), r.Sentence) && !known {
			t.Errorf("%s: no story shows it", r.Code)
		}
		if r.Code == reason.Guaranteed {
			return
		}
	}
	t.Error("Guaranteed is not in the table of reasons: say anew where the scheduler's end")
}
