package explain

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
)

// describeBudget returns the budget that a limit describes.
func describeBudget(l *Limit) string {
	switch l.Budget.Period {
	case accountv1alpha1.BudgetPeriodMonth:
		return "the budget of account " + l.Account + " for this month"
	case accountv1alpha1.BudgetPeriodQuarter:
		return "the budget of account " + l.Account + " for this quarter"
	case accountv1alpha1.BudgetPeriodYear:
		return "the budget of account " + l.Account + " for this year"
	}
	return "the budget of account " + l.Account
}

func podTextOfBudget(v *Verdict, _ string) string {
	if v.Limit.Budget.NeedsTimeLimit {
		return fmt.Sprintf("account %s has a budget, and the pods have no time limit", v.Limit.Account)
	}
	return describeBudget(v.Limit) + " would be exceeded"
}

// causeOfBudget compares a request multiplied by the time limit with the budget of an account.
func causeOfBudget(v *Verdict, sentence string) string {
	if v.Limit.Budget.NeedsTimeLimit {
		return podTextOfBudget(v, sentence)
	}
	var parts []string
	if v.IsNeverPossible() {
		for _, l := range v.limitAndMore() {
			parts = append(parts, fmt.Sprintf("%s-minutes requested %s, budget %s", l.Resource, formatUp(&l, l.Asked), formatDown(&l, l.Limit)))
		}
		return "the request exceeds " + describeBudget(v.Limit) + ": " + strings.Join(parts, "; ")
	}
	for _, l := range v.limitAndMore() {
		if l.Budget.HeldWithoutLimit {
			parts = append(parts, "a running job without a time limit reserves all of it")
			break
		}
		text := fmt.Sprintf("%s-minutes requested %s, %s used or reserved by running jobs", l.Resource, formatUp(&l, l.Asked), formatUp(&l, l.Held))
		if l.Promised > 0 {
			text += fmt.Sprintf(", %s reserved for %s", formatUp(&l, l.Promised), listPromisees(&l))
		}
		parts = append(parts, fmt.Sprintf("%s, budget %s", text, formatDown(&l, l.Limit)))
	}
	return podTextOfBudget(v, sentence) + ": " + strings.Join(parts, "; ")
}

// formatUp formats an amount of the limit's resource and rounds it up. CPU-minutes are rounded to whole ones.
func formatUp(l *Limit, amount float64) string {
	return formatRoundedUp(l.Resource, roundMinutes(l, amount, math.Ceil))
}

// formatDown is like formatUp, but rounds down.
func formatDown(l *Limit, amount float64) string {
	return formatRoundedDown(l.Resource, roundMinutes(l, amount, math.Floor))
}

func roundMinutes(l *Limit, amount float64, round func(float64) float64) float64 {
	const milli = 1000
	if l.Budget == nil || l.Resource != string(corev1.ResourceCPU) {
		return amount
	}
	return round(amount/milli) * milli
}

// hintForBudget returns a hint with the time at which the budget is available again.
func hintForBudget(v *Verdict, _ string) string {
	l := v.Limit
	if l.Budget.HeldWithoutLimit {
		return fmt.Sprintf("wait until the running jobs of account %s without a time limit end, or end them", l.Account)
	}
	wait := "wait until running jobs of this account end before their time limits, which returns the rest of their reservations"
	if !l.Budget.RenewedAt.IsZero() {
		wait = fmt.Sprintf("wait until %s, when the whole budget is available again, or until running jobs of this account end before their time limits",
			l.Budget.RenewedAt.UTC().Format("2006-01-02 15:04 MST"))
	}
	return fmt.Sprintf("%s; or lower the time limit or the requests, or ask the administrator of account %s to raise the budget", wait, l.Account)
}

func hintIfOverBudget(v *Verdict) string {
	remedy := fmt.Sprintf("ask the administrator of account %s to raise the budget, or submit for another account", v.Limit.Account)
	if v.Limit.Budget.NeedsTimeLimit {
		return "set a time limit (sbatch --time, or activeDeadlineSeconds of the pods), or submit for another account"
	}
	return "lower the time limit or the requests, " + remedy
}
