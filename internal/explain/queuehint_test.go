package explain

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/api/reason"
)

func TestTheHintOfAClosedQueueNamesIt(t *testing.T) {
	t.Parallel()
	if got := describeHint(&Verdict{Code: reason.QueueClosed, Limit: &Limit{Queue: "shut"}}); !strings.Contains(got, "vcctl queue open shut") {
		t.Error(got)
	}
}
