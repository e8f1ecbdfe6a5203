package scheduler_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

// TestNoLimitOfAnAccountIsExceededOrWaitedForInVain makes random changes to a cluster with accounts, whose limits change,
// too. No job is admitted and no pod is placed beyond a limit of an account, its ancestors or a user, even if pods are
// still being deleted or are created again. No gang waits for a limit that is free. A new engine admits and places the
// same.
func TestNoLimitOfAnAccountIsExceededOrWaitedForInVain(t *testing.T) {
	checkLimits(t, 20000, func(r *random) { r.AddAccounts() })
}

// TestNoLimitOfAQOSIsExceededOrWaitedForInVain is the same test for the limits of QOS, with and without those of accounts.
func TestNoLimitOfAQOSIsExceededOrWaitedForInVain(t *testing.T) {
	checkLimits(t, 20000, func(r *random) {
		r.AddQOS()
		if rapid.Bool().Draw(r.T, "with accounts") {
			r.AddAccounts()
		}
	})
}

// checkLimits checks the limits that addLimits adds to random clusters.
func checkLimits(t *testing.T, seeds int, addLimits func(*random)) {
	t.Helper()
	heldBack := 0
	whole := propertytest.Check(t, seeds, func(t *rapid.T) {
		r := newRandom(t)
		addLimits(r)
		if rapid.Bool().Draw(t, "rich") {
			r.Enrich()
			r.Timed = rapid.Bool().Draw(t, "timed")
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			r.Change()
			if rapid.IntRange(0, 3).Draw(t, "time passes") == 0 {
				r.Pass()
			}
			switch rapid.IntRange(0, 5).Draw(t, "cycle") {
			case 0:
				r.Settle()
				r.CheckHeldBack()
			case 1, 2, 3:
				r.Decide()
			}
		}
		r.Settle()
		r.CheckHeldBack()
		heldBack += r.HeldBack
	})
	if whole && heldBack == 0 {
		t.Error("no limit has held back a gang")
	}
}
