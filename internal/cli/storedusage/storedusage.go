// Package storedusage reads the usage of accounts that the scheduler stores in a ConfigMap.
//
//	In:   the ConfigMap
//	Out:  the usage for fair share, and the usage of budgets
package storedusage

import (
	"context"
	"encoding/json"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	modelresource "github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/usererror"
)

// key identifies the ConfigMap.
var key = client.ObjectKey{Namespace: "volcano-system", Name: keys.UsageName}

// Stored is the stored usage. It is not parsed yet.
type Stored struct{ data map[string]string }

// Read reads the stored usage. It is empty if the scheduler has stored nothing.
func Read(ctx context.Context, c client.Client) (*Stored, error) {
	stored := &corev1.ConfigMap{}
	if err := client.IgnoreNotFound(c.Get(ctx, key, stored)); err != nil {
		return nil, err
	}
	return &Stored{stored.Data}, nil
}

// FairShare returns the usage for fair share.
func (s *Stored) FairShare() ([]model.UsageEntry, error) {
	return parse[model.UsageEntry](s, keys.UsageData, "the scheduler writes it again within a minute")
}

// Budgets returns the usage of budgets.
func (s *Stored) Budgets() (Budgets, error) {
	entries, err := parse[model.BudgetUsageEntry](s, keys.BudgetUsageData, "the scheduler writes it again after the next change")
	if err != nil {
		return nil, err
	}
	all := Budgets{}
	for _, entry := range entries {
		all[entry.Account] = entry.Usage
	}
	return all, nil
}

// parse parses the entries in a part of the ConfigMap. hint describes how the part becomes valid again.
func parse[T any](s *Stored, part, hint string) ([]T, error) {
	text := s.data[part]
	if text == "" {
		return nil, nil
	}
	var entries []T
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return nil, usererror.Errorf(hint, "ConfigMap %s: %v", key, err)
	}
	return entries, nil
}

// Budgets holds the usage of budgets by account.
type Budgets map[string]*model.BudgetUsage

// Current returns the usage of an account's budget in the current period. It is nil if the usage is not known, for example
// because the scheduler has not started the new period yet.
func (all Budgets) Current(account string, budget *accountv1alpha1.Budget, now time.Time) *model.BudgetUsage {
	usage := all[account]
	if usage == nil || usage.Since.Before(budget.StartAt(now)) {
		return nil
	}
	return usage
}

// Minutes returns resource-seconds in minutes, rounded up.
func Minutes(of corev1.ResourceName, seconds int64) resource.Quantity {
	minutes := modelresource.MinutesFromTime(string(of), seconds)
	if of == corev1.ResourceCPU {
		return *resource.NewQuantity(int64(math.Ceil(minutes/1000)), resource.DecimalSI)
	}
	return *resource.NewQuantity(int64(math.Ceil(minutes)), resource.BinarySI)
}
