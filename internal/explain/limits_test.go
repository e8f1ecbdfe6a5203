package explain

import (
	"strings"
	"testing"

	"github.com/vc-batch/vc/api/reason"
)

// TestEveryLimitThatIsTooSmallIsNamed checks that the sentence and the hint name all resources that are short, so that
// a user who follows the hint has to change the job only once.
func TestEveryLimitThatIsTooSmallIsNamed(t *testing.T) {
	cpu := Limit{Queue: "q", Resource: "cpu", Asked: 2000, Limit: 1000}
	memory := Limit{Queue: "q", Resource: "memory", Asked: 4 << 30, Limit: 1 << 30}
	cards := Limit{Queue: "q", Resource: "nvidia.com/gpu", Asked: 1}
	for name, c := range map[string]struct {
		verdict        Verdict
		sentence, hint string
	}{
		"capability": {
			Verdict{Code: reason.OverCapability, Limit: &cpu, More: []Limit{memory, cards}},
			"cpu requested 2, limit 1; memory requested 4Gi, limit 1Gi; nvidia.com/gpu requested 1, limit 0",
			"request at most cpu 1, memory 1Gi and no nvidia.com/gpu in total, raise the capability of queue q, or submit to another queue",
		},
		"quota": {
			Verdict{Code: reason.OverQuota, Limit: &cpu, More: []Limit{memory}},
			"cpu requested 2, limit 1; memory requested 4Gi, limit 1Gi",
			"request at most cpu 1, memory 1Gi in total, or raise the ResourceQuota",
		},
		"account": {
			Verdict{Code: reason.AccountResourceLimit, Limit: &Limit{Account: "physics", Resource: "cpu", Asked: 2000, Limit: 1000}, More: []Limit{memory}},
			"the request exceeds the limit of account physics: cpu requested 2, limit 1; memory requested 4Gi, limit 1Gi",
			"request at most cpu 1, memory 1Gi in total, ask the administrator of account physics to raise the limit, or submit for another account",
		},
		"user": {
			Verdict{Code: reason.UserResourceLimit, Limit: &Limit{Account: "physics", User: "ann", Resource: "cpu", Asked: 1000, Held: 2000, Limit: 2000}},
			"user ann in account physics would exceed its resource limit: cpu requested 1, 2 in use, limit 2",
			"wait until your jobs in this account end, request less, or ask the administrator of account physics to raise the limit",
		},
		"number of jobs": {
			Verdict{Code: reason.AccountJobLimit, Limit: &Limit{Account: "physics", Asked: 1, Held: 3, Limit: 3}},
			"account physics already runs 3 jobs, and the limit is 3",
			"wait for one of the 3 running jobs of account physics to end, or ask the administrator of account physics to raise the limit",
		},
		"a pod that is too large for the nodes, in a queue that is too small": {
			Verdict{Code: reason.TooLarge, Limit: &Limit{Resource: "cpu", Asked: 3000, Limit: 2000, Node: true}, More: []Limit{
				{Queue: "q", Resource: "cpu", Asked: 3000, Limit: 1000}, memory,
			}},
			"cpu requested 3, the largest node has 2; the request exceeds the capability of queue q: cpu requested 3, limit 1; memory requested 4Gi, limit 1Gi",
			"request at most cpu 2 per pod, or add a larger node; also request at most cpu 1, memory 1Gi in total, or raise the capability of queue q",
		},
		"one resource of which there is nothing": {
			Verdict{Code: reason.OverCapability, Limit: &cards},
			"nvidia.com/gpu requested 1, limit 0",
			"request no nvidia.com/gpu, raise the capability of queue q, or submit to another queue",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Sentence(&c.verdict); !strings.HasSuffix(got, c.sentence) {
				t.Errorf("sentence %q, want the end %q", got, c.sentence)
			}
			if got := describeHint(&c.verdict); got != c.hint {
				t.Errorf("hint %q, want %q", got, c.hint)
			}
		})
	}
}

// TestFailedPodsThatDoNotCountAreNamed checks that a gang with as many pods as it needs, some of them failed, does not
// wait for pods that nothing creates.
func TestFailedPodsThatDoNotCountAreNamed(t *testing.T) {
	v := Verdict{Code: reason.NotEnoughPods, Members: Members{Min: 4, Exist: 3, Total: 4, Failed: 1}}
	if got, want := Sentence(&v), "fewer pods exist than the gang needs: 3 of 4, 1 failed"; got != want {
		t.Errorf("sentence %q, want %q", got, want)
	}
	if got := describeHint(&v); !strings.HasPrefix(got, "delete and re-create the failed pods") {
		t.Errorf("hint %q does not say that failed pods must be re-created", got)
	}
}

// TestATaskWithTooFewPodsHasNumbers checks that the sentence about one task says how many of its pods exist.
func TestATaskWithTooFewPodsHasNumbers(t *testing.T) {
	v := Verdict{Code: reason.NotEnoughPods, Role: "worker", RoleMin: 3, RoleMissing: 2}
	if got, want := Sentence(&v), "fewer pods of task worker exist than the gang needs: 1 of 3"; got != want {
		t.Errorf("sentence %q, want %q", got, want)
	}
}

// An explanation is kept if only the usage of its limit differs, but not if the gang has more pods.
func TestTheSameLimitForOtherPodsIsAnotherExplanation(t *testing.T) {
	t.Parallel()
	verdict := func(exist, held int, used float64) *Verdict {
		return &Verdict{Code: reason.OverCapability, Members: Members{Min: 4, Exist: exist, Held: held}, Limit: &Limit{Queue: "q", Resource: "cpu", Asked: 4000, Held: used, Limit: 8000}}
	}
	cases := map[string]struct {
		b    *Verdict
		want bool
	}{
		"the usage differs":             {verdict(5, 0, 7000), true},
		"more pods exist":               {verdict(8, 0, 6000), false},
		"more pods have a node already": {verdict(5, 1, 6000), false},
	}
	for name, tc := range cases {
		if got := HaveSameLimit(verdict(5, 0, 6000), tc.b); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
