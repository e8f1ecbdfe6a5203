package explain

import (
	"testing"

	"github.com/vc-batch/vc/api/reason"
)

func TestTextsBelongToReasonsOfWaitingGangs(t *testing.T) {
	t.Parallel()
	for code, texts := range wordings {
		row, known := reason.Find(code)
		switch {
		case !known:
			t.Errorf("%s has texts and no row in the table of reasons", code)
		case row.Pod == reason.NotOfPods:
			t.Errorf("%s has texts, and its row says that no pod waits for it", code)
		case texts.never != nil && row.Never == 0:
			t.Errorf("%s has a text for requests that never fit, and its row names no limit for that", code)
		}
	}
}
