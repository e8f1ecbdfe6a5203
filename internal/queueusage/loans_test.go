package queueusage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/propertytest"
)

func of(pairs ...string) corev1.ResourceList {
	if len(pairs) == 0 {
		return nil
	}
	all := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		all[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return all
}

func sibling(name string, deserves, holds corev1.ResourceList) *schedulingv1beta1.Queue {
	q := &schedulingv1beta1.Queue{}
	q.Name, q.Spec.Deserved, q.Status.Allocated = name, deserves, holds
	return q
}

func TestWhoBorrowsOfWhom(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		queues []*schedulingv1beta1.Queue
		want   []string
	}{
		"nobody who is within what it deserves": {
			[]*schedulingv1beta1.Queue{sibling("a", of("cpu", "4"), of("cpu", "4")), sibling("b", of("cpu", "2"), of("cpu", "1"))}, nil},
		"from who has most left first": {
			[]*schedulingv1beta1.Queue{sibling("a", of("cpu", "1"), of("cpu", "4")), sibling("b", of("cpu", "2"), of("cpu", "1")), sibling("c", of("cpu", "3"), of("cpu", "1"))},
			[]string{"a 2 cpu c", "a 1 cpu b"}},
		"more than others leave": {
			[]*schedulingv1beta1.Queue{sibling("a", of("cpu", "1"), of("cpu", "4")), sibling("b", of("cpu", "2"), of("cpu", "1"))},
			[]string{"a 1 cpu b", "a 2 cpu "}},
		"who deserves nothing borrows all": {
			[]*schedulingv1beta1.Queue{sibling("a", nil, of("cpu", "1", "memory", "2Gi")), sibling("b", of("cpu", "2"), nil)},
			[]string{"a 1 cpu b"}},
		"what a queue does not share by is not borrowed": {
			[]*schedulingv1beta1.Queue{sibling("a", of("nvidia.com/gpu", "2"), of("cpu", "8", "nvidia.com/gpu", "3", "pods", "4")), sibling("b", of("cpu", "9", "nvidia.com/gpu", "1"), nil)},
			[]string{"a 1 gpu b"}},
		"pods are no resource": {
			[]*schedulingv1beta1.Queue{sibling("a", of("pods", "1"), of("pods", "4")), sibling("b", of("pods", "5"), nil)}, nil},
		"parts of a cpu": {
			[]*schedulingv1beta1.Queue{sibling("a", of("cpu", "500m"), of("cpu", "1250m")), sibling("b", of("cpu", "1"), of("cpu", "100m"))},
			[]string{"a 750m cpu b"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, l := range LoansAmong(test.queues) {
				got = append(got, fmt.Sprintf("%s %s %s", l.To, l.FormatAmount(), l.From))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("borrower, amount, lender (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheSchedulersDeservedResourcesCount verifies that the deserved resources computed by the scheduler take precedence
// over the configured ones, which policy proportion does not read. Before the scheduler reports, the configured ones
// count.
func TestTheSchedulersDeservedResourcesCount(t *testing.T) {
	t.Parallel()
	a, b := sibling("a", of("cpu", "40"), of("cpu", "38")), sibling("b", of("cpu", "100"), of("cpu", "1"))
	if got := LoansAmong([]*schedulingv1beta1.Queue{a, b}); len(got) != 0 {
		t.Errorf("before the scheduler reports, no queue borrows: %+v", got)
	}
	a.Status.Deserved, b.Status.Deserved = of("cpu", "35"), of("cpu", "4")
	if got := LoansAmong([]*schedulingv1beta1.Queue{a, b}); len(got) != 1 || got[0].FormatAmount() != "3 cpu" || got[0].From != "b" {
		t.Errorf("loans by the scheduler's amounts: %+v", got)
	}
	if got := FormatLongUsageBar(a, false); !strings.HasSuffix(got, "109% 38/35 cpu") {
		t.Errorf("the usage bar: %q", got)
	}
	b.Status.Deserved = corev1.ResourceList{}
	if got := DeservedResources(b); len(got) != 0 {
		t.Errorf("a queue that deserves nothing: %v", got)
	}
}

// TestLoansAddUp verifies that a queue borrows exactly its usage beyond its share, and that no queue lends more than
// its unused share.
func TestLoansAddUp(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 1000, func(t *rapid.T) {
		var queues []*schedulingv1beta1.Queue
		over, under := map[string]int64{}, map[string]int64{}
		for i := range rapid.IntRange(1, 6).Draw(t, "queues") {
			name := fmt.Sprint("q", i)
			deserves, holds := rapid.Int64Range(0, 9).Draw(t, "deserves"), rapid.Int64Range(0, 9).Draw(t, "holds")
			queues = append(queues, sibling(name, of("cpu", fmt.Sprint(deserves)), of("cpu", fmt.Sprint(holds))))
			over[name], under[name] = max(holds-deserves, 0), max(deserves-holds, 0)
		}
		for _, l := range LoansAmong(queues) {
			over[l.To] -= l.Amount.Value()
			if l.From == l.To || l.Amount.Sign() <= 0 {
				t.Fatalf("a loan of nothing, or to itself: %+v", l)
			}
			if l.From != "" {
				under[l.From] -= l.Amount.Value()
			}
		}
		unlent := int64(0)
		for _, q := range queues {
			if over[q.Name] != 0 || under[q.Name] < 0 {
				t.Fatalf("%s borrows %d too little, or lends %d too much", q.Name, over[q.Name], -under[q.Name])
			}
			unlent += under[q.Name]
		}
		for _, l := range LoansAmong(queues) {
			if l.From == "" && unlent > 0 {
				t.Fatalf("%s holds %s that nobody deserves, while %d are left", l.To, l.FormatAmount(), unlent)
			}
		}
	})
}

// TestUseIsMeasuredByConfiguredBounds verifies that usage is relative to a capability or a configured deserved amount,
// and to none if neither is configured: a share by weight depends on the requests.
func TestUseIsMeasuredByConfiguredBounds(t *testing.T) {
	t.Parallel()
	alone, said := sibling("alone", nil, of("cpu", "1")), sibling("said", of("cpu", "2"), of("cpu", "4"))
	alone.Status.Deserved, said.Status.Deserved = of("cpu", "1"), of("cpu", "2")
	if got := FormatLongUsageBar(alone, false); got != "-" {
		t.Errorf("a queue without a bound: %q", got)
	}
	if got := FormatLongUsageBar(said, false); !strings.HasSuffix(got, "200% 4/2 cpu") {
		t.Errorf("a queue with twice what it is said to deserve: %q", got)
	}
}
