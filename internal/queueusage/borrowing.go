package queueusage

import (
	"fmt"
	"strings"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Note returns additional information about a queue: its errors, the resources that it borrows and lends, and the
// number of waiting groups.
func (f *Forest) Note(q *schedulingv1beta1.Queue) string {
	var notes []string
	if c := q.Invalid(); c != nil {
		notes = append(notes, "wrong: "+c.Message)
	}
	notes = append(notes, borrowNotes(f.loans[q.Name])...)
	lent := f.LoansGivenBy(q.Name)
	for _, part := range groupLoans(lent, func(l Loan) string { return l.To }) {
		notes = append(notes, fmt.Sprintf("lends %s to %s", part.amounts, part.who))
	}
	if waiting := f.SumOverTree(q, WaitingGroups); waiting > 0 && len(lent) > 0 {
		notes = append(notes, fmt.Sprintf("%d %s", waiting, chooseVerb(waiting, "waits", "wait")))
	}
	return strings.Join(notes, "; ")
}

func borrowNotes(loans []Loan) []string {
	var notes []string
	for _, part := range groupLoans(loans, func(l Loan) string { return l.From }) {
		if part.who == "" {
			notes = append(notes, part.amounts+" over deserved share")
			continue
		}
		notes = append(notes, fmt.Sprintf("borrows %s from %s", part.amounts, part.who))
	}
	return notes
}

// dealings holds the amounts borrowed or lent between a queue and one other queue.
type dealings struct{ who, amounts string }

// groupLoans joins the amounts of loans by the other queue, in the order of first occurrence.
func groupLoans(loans []Loan, other func(Loan) string) []dealings {
	var all []dealings
	at := map[string]int{}
	for _, l := range loans {
		who := other(l)
		i, seen := at[who]
		if !seen {
			i = len(all)
			at[who] = i
			all = append(all, dealings{who: who})
		}
		if all[i].amounts != "" {
			all[i].amounts += ", "
		}
		all[i].amounts += l.FormatAmount()
	}
	return all
}

// RunningGroups returns the number of running PodGroups in a queue.
func RunningGroups(q *schedulingv1beta1.Queue) int32 { return q.Status.Running }

// WaitingGroups returns the number of waiting PodGroups in a queue.
func WaitingGroups(q *schedulingv1beta1.Queue) int32 { return q.Status.Inqueue + q.Status.Pending }

func chooseVerb(n int32, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
