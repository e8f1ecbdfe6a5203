package queueusage

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/render"
)

// Loan is an amount of a resource that a queue uses beyond its deserved share, and that a sibling deserves but does not
// use. If From is empty, no queue deserves it.
type Loan struct {
	From, To string
	Resource corev1.ResourceName
	Amount   resource.Quantity
}

// FormatAmount formats the amount: "2 cpu".
func (l *Loan) FormatAmount() string {
	return l.Amount.String() + " " + render.ShortResource(l.Resource)
}

// DeservedResources returns the deserved resources of a queue, as computed by the scheduler. Policy proportion does not
// read the configured ones, and policy capacity limits them to the capability. Until the scheduler has reported its
// result, DeservedResources returns the configured ones.
func DeservedResources(q *schedulingv1beta1.Queue) corev1.ResourceList {
	if q.Status.Deserved != nil {
		return q.Status.Deserved
	}
	return q.Spec.Deserved
}

// LoansAmong returns the loans between siblings. The queue that borrows most of a resource takes from the queue with
// most of it unused, so that there are few loans. Pods do not count as a resource.
func LoansAmong(siblings []*schedulingv1beta1.Queue) []Loan {
	names := map[corev1.ResourceName]bool{}
	for _, q := range siblings {
		for name := range DeservedResources(q) {
			names[name] = name != corev1.ResourcePods
		}
	}
	var loans []Loan
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if names[name] {
			loans = append(loans, loansAmongSiblings(name, siblings)...)
		}
	}
	return loans
}

// balance is the difference between a queue's usage of a resource and its deserved amount.
type balance struct {
	queue string
	left  resource.Quantity
}

func loansAmongSiblings(name corev1.ResourceName, siblings []*schedulingv1beta1.Queue) []Loan {
	var over, under []balance
	for _, q := range siblings {
		share := DeservedResources(q)
		deserves, named := share[name]
		if !named && len(share) > 0 {
			continue // the queue does not share this resource
		}
		held := q.Status.Allocated[name].DeepCopy()
		held.Sub(deserves)
		switch held.Sign() {
		case 1:
			over = append(over, balance{q.Name, held})
		case -1:
			held.Neg()
			under = append(under, balance{q.Name, held})
		}
	}
	largest := func(a, b balance) int { return cmp.Or(b.left.Cmp(a.left), cmp.Compare(a.queue, b.queue)) }
	slices.SortFunc(over, largest)
	slices.SortFunc(under, largest)
	var loans []Loan
	for _, borrower := range over {
		for i := range under {
			lender := &under[i]
			amount := borrower.left.DeepCopy()
			if lender.left.Cmp(amount) < 0 {
				amount = lender.left.DeepCopy()
			}
			if amount.Sign() <= 0 {
				continue
			}
			lender.left.Sub(amount)
			borrower.left.Sub(amount)
			loans = append(loans, Loan{From: lender.queue, To: borrower.queue, Resource: name, Amount: amount})
		}
		if borrower.left.Sign() > 0 {
			loans = append(loans, Loan{To: borrower.queue, Resource: name, Amount: borrower.left})
		}
	}
	return loans
}
