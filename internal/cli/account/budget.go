package account

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/cli/storedusage"
)

// budgetUsages holds the usage of budgets by account. It is empty if the user is not allowed to read it.
type budgetUsages struct{ storedusage.Budgets }

// readBudgetUsages reads the usage of budgets that the scheduler has stored.
func readBudgetUsages(ctx context.Context, c client.Client) (budgetUsages, error) {
	stored, err := storedusage.Read(ctx, c)
	if apierrors.IsForbidden(err) {
		return budgetUsages{}, nil
	}
	if err != nil {
		return budgetUsages{}, err
	}
	all, err := stored.Budgets()
	return budgetUsages{all}, err
}

// budgetRows returns the names of the resources of an account's budget, their amounts, and what is used and reserved of
// them.
func (all budgetUsages) budgetRows(account string, budget *accountv1alpha1.Budget, now time.Time) [][]string {
	if budget == nil {
		return nil
	}
	period := ""
	if hasPeriod := budget.Period != "" && budget.Period != accountv1alpha1.BudgetPeriodNone; hasPeriod {
		period = " per " + strings.ToLower(string(budget.Period))
	}
	var rows [][]string
	for _, of := range slices.Sorted(maps.Keys(budget.ResourceMinutes)) {
		most := budget.ResourceMinutes[of]
		rows = append(rows, []string{account, string(of) + " minutes" + period, most.String(), all.usageText(account, budget, of, now)})
	}
	return rows
}

// usageText returns how much of a budget is used, and how much running jobs may still use. It returns "-" if this is not
// known.
func (all budgetUsages) usageText(account string, budget *accountv1alpha1.Budget, of corev1.ResourceName, now time.Time) string {
	usage := all.Current(account, budget, now)
	if usage == nil {
		return "-"
	}
	text := minutesText(of, usage.UsedAt(string(of), now)) + " used"
	if reserved := usage.ReservedAt(string(of), now); reserved > 0 {
		text += ", " + minutesText(of, reserved) + " reserved"
	}
	return text
}

// minutesText returns the text of resource-seconds in minutes, rounded up.
func minutesText(of corev1.ResourceName, seconds int64) string {
	amount := storedusage.Minutes(of, seconds)
	if of == corev1.ResourceCPU {
		return strconv.FormatInt(amount.Value(), 10)
	}
	return amount.String()
}
