package scheduler_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/test/propertytest"
	"github.com/vc-batch/vc/test/randomcluster"
)

// random is a random cluster with the methods of these tests.
type random struct{ *randomcluster.Cluster }

func newRandom(t *rapid.T) *random {
	r := &random{randomcluster.New(t)}
	r.DescribeEngine = func(e *scheduler.Engine) string { return e.DescribeGangs(r.Model, r.Now) }
	return r
}

// TestInvariants makes random changes and checks every cycle. No node holds more than its capacity, of resources,
// cards, slots and ports (I1, from the state of the API). No gang is bound in part (I2). No queue exceeds its
// capability with its running pods until they have ended (I3). No pod is bound twice (I6). A new engine makes the
// same decisions (I11).
func TestInvariants(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		r := newRandom(t)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			r.Change()
			if rapid.IntRange(0, 2).Draw(t, "cycle") > 0 {
				r.Decide()
			}
		}
		r.Decide()
	})
}
