package explain

import (
	"testing"

	"github.com/vc-batch/vc/api/reason"
)

func TestNumbersOfALimit(t *testing.T) {
	for name, c := range map[string]struct {
		verdict Verdict
		want    string
	}{
		"a share says by what weight and who has the rest": {
			Verdict{Code: reason.OverDeserved, Limit: &Limit{
				Queue: "q2", Resource: "cpu", Asked: 3000, Limit: 2000, Total: 4000, Sharers: []Sharer{{"q1", 1, 2000}, {"q2", 1, 2000}},
			}},
			"queue q2 would exceed its share: cpu requested 3, 0 in use, its share is 2 of 4, based on weight 1 of a total weight of 2; other queues that request a share: q1 (2)",
		},
		"three others are named": {
			Verdict{Code: reason.OverDeserved, Limit: &Limit{
				Queue: "q", Resource: "cpu", Asked: 3000, Held: 1000, Limit: 1000, Total: 9000,
				Sharers: []Sharer{{"a", 2, 4000}, {"b", 1, 1000}, {"c", 1, 1000}, {"d", 1, 1000}, {"e", 1, 1000}, {"q", 1, 1000}},
			}},
			"queue q would exceed its share: cpu requested 3, 1 in use, its share is 1 of 9, based on weight 1 of a total weight of 7; other queues that request a share: a (4), b (1), c (1), …",
		},
		"what is promised is not in use": {
			Verdict{Code: reason.OverCapability, Limit: &Limit{Queue: "q", Resource: "cpu", Asked: 3000, Held: 2000, Spare: 1000, Promised: 1000, Limit: 4000}},
			"queue q would exceed its capability: cpu requested 3, 2 in use (1 beyond minimums), 1 reserved for gangs admitted earlier, limit 4",
		},
		"completed and failed pods of a gang that runs": {
			Verdict{Code: reason.GangDoesNotFit, Extra: true, Members: Members{Min: 4, Total: 7, Held: 1, Pending: 2, Completed: 3, Failed: 1}},
			"1 of 7 pods have a node, 3 completed, 1 failed (4 are enough); the other 2 wait: no nodes",
		},
		"the largest node": {
			Verdict{Code: reason.TooLarge, Limit: &Limit{Resource: "cpu", Asked: 4000, Limit: 2000, Node: true}},
			"no node is large enough even when empty: cpu requested 4, the largest node has 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Sentence(&c.verdict); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
