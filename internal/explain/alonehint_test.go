package explain

import (
	"testing"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model/resource"
)

func TestAJobOfOnePodIsNotAdvisedToLowerItsMinimum(t *testing.T) {
	t.Parallel()
	var tally Tally
	tally.Add(reason.InsufficientResource, "cpu", 1000)
	for members, want := range map[Members]string{
		{Min: 1, Exist: 1, Total: 1}: "lower the requests, or add nodes",
		{Min: 2, Exist: 2, Total: 2}: "lower minAvailable or the requests, or add nodes",
	} {
		verdict := &Verdict{Code: reason.GangDoesNotFit, Members: members, Tally: tally}
		if hint := ToAPIExplanation(verdict, nil, &resource.Names{}).Hint; hint != want {
			t.Errorf("%d pods: hint %q, want %q", members.Total, hint, want)
		}
	}
}
