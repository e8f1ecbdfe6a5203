package explain

import (
	"testing"

	"github.com/vc-batch/vc/api/reason"
)

// TestAnAutoscalerIsAskedOnlyForNodesThatHelp matters because autoscalers add nodes for pods with the reason
// Unschedulable (#4710).
func TestAnAutoscalerIsAskedOnlyForNodesThatHelp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		code  reason.Code
		grows bool
		want  string
	}{
		"no room on the nodes":                                 {code: reason.GangDoesNotFit, want: "Unschedulable"},
		"no node is large enough":                              {code: reason.TooLarge, want: "Unschedulable"},
		"the queue's capability":                               {code: reason.OverCapability, want: "OverCapability"},
		"the queue's capability, of a queue that grows":        {code: reason.OverCapability, grows: true, want: "OverCapability"},
		"the queue's share":                                    {code: reason.OverDeserved, want: "OverDeserved"},
		"the queue's share, which grows with the cluster":      {code: reason.OverDeserved, grows: true, want: "Unschedulable"},
		"others of a strict queue are first":                   {code: reason.BehindOthers, want: "BehindOthers"},
		"others are first, and the cluster grows for all":      {code: reason.BehindOthers, grows: true, want: "Unschedulable"},
		"the queue is closed":                                  {code: reason.QueueClosed, want: "QueueClosed"},
		"there is no such queue, however the cluster may grow": {code: reason.QueueMissing, grows: true, want: "QueueMissing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := PodReason(&Verdict{Code: test.code}, test.grows); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
