package account

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	modelresource "github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/usererror"
)

// systemNamespace is the namespace in which the scheduler stores the usage of budgets.
const systemNamespace = "volcano-system"

// budgetUsages holds the usage of budgets by account.
type budgetUsages map[string]*model.BudgetUsage

// readBudgetUsages reads the usage of budgets that the scheduler has stored. It returns nil if the user is not allowed to
// read it.
func readBudgetUsages(ctx context.Context, c client.Client) (budgetUsages, error) {
	stored := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: systemNamespace, Name: keys.UsageName}
	err := c.Get(ctx, key, stored)
	if apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return nil, err
	}
	var entries []model.BudgetUsageEntry
	if text := stored.Data[keys.BudgetUsageData]; text != "" {
		if err := json.Unmarshal([]byte(text), &entries); err != nil {
			return nil, usererror.Errorf("the scheduler writes it again after the next change", "ConfigMap %s: %v", key, err)
		}
	}
	all := budgetUsages{}
	for _, entry := range entries {
		all[entry.Account] = entry.Usage
	}
	return all, nil
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
	usage := all[account]
	if usage == nil || usage.Since.Before(budget.StartAt(now)) { // the scheduler has not started the new period yet
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
	minutes := modelresource.MinutesFromTime(string(of), seconds)
	if of == corev1.ResourceCPU {
		return strconv.FormatInt(int64(math.Ceil(minutes/1000)), 10)
	}
	amount := resource.NewQuantity(int64(math.Ceil(minutes)), resource.BinarySI)
	return amount.String()
}
