package model

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

// TestUseFollowsFromTheRate compares ValueAtTime with an integration in small steps.
func TestUseFollowsFromTheRate(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		halfLife := time.Duration(rapid.IntRange(1, 48).Draw(t, "hours")) * time.Hour
		u := Usage{Value: rapid.Float64Range(0, 1e6).Draw(t, "value"), At: time.Unix(0, 0), Rate: rapid.Float64Range(0, 1).Draw(t, "rate")}
		length := time.Duration(rapid.IntRange(0, 200).Draw(t, "minutes")) * time.Minute
		want := u.Value
		const step = time.Second
		decay := math.Exp2(-float64(step) / float64(halfLife))
		for range length / step {
			want = want*decay + u.Rate*step.Seconds()*(1+decay)/2
		}
		if got := u.ValueAtTime(u.At.Add(length), halfLife); math.Abs(got-want) > 1e-3*max(want, 1) {
			t.Fatalf("use after %v is %v, in steps %v", length, got, want)
		}
		half := Usage{Value: u.Value, At: u.At}
		if got := half.ValueAtTime(u.At.Add(halfLife), halfLife); math.Abs(got-u.Value/2) > 1e-6*max(u.Value, 1) {
			t.Fatalf("after a half-life %v of %v is left", got, u.Value)
		}
	})
}

func TestUseOfTheFutureAndOfNothing(t *testing.T) {
	at := time.Unix(1000, 0)
	if got := (Usage{Value: 5, At: at, Rate: 1}).ValueAtTime(at.Add(-time.Hour), time.Hour); got != 5 {
		t.Errorf("before it was told: %v, want 5", got)
	}
	c := New()
	c.Apply(UsageSet{[]UsageEntry{{Account{Queue: "q"}, Usage{Value: 1}}}})
	c.AssumeUsage([]UsageEntry{{Account: Account{Queue: "q"}}})
	if len(c.Usage) != 0 {
		t.Errorf("an account without use is kept: %v", c.Usage)
	}
}
