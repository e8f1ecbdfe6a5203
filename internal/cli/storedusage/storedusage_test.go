package storedusage

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
)

func TestMinutesAreRoundedUp(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		resource corev1.ResourceName
		seconds  int64
		want     string
	}{
		{"cpu", 0, "0"},
		{"cpu", 60_000, "1"}, // thousandths of a CPU
		{"cpu", 60_001, "2"},
		{"nvidia.com/gpu", 61, "2"},
		{"memory", 61_440, "1Gi"}, // MiB
	} {
		if got := Minutes(test.resource, test.seconds); got.String() != test.want {
			t.Errorf("%d of %s are %s minutes, want %s", test.seconds, test.resource, got.String(), test.want)
		}
	}
}

func TestTheUsageOfAnEarlierPeriodIsNotCurrent(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	all := Budgets{"physics": &model.BudgetUsage{Since: begin}}
	budget := &accountv1alpha1.Budget{Period: accountv1alpha1.BudgetPeriodMonth}
	if all.Current("physics", budget, begin.AddDate(0, 0, 29)) == nil {
		t.Error("the usage of this month is not current")
	}
	if all.Current("physics", budget, begin.AddDate(0, 1, 0)) != nil || all.Current("chem", budget, begin) != nil {
		t.Error("the usage of the last month, or of an account without usage, is current")
	}
}

func TestUsageThatCannotBeReadIsAnErrorWithTheConfigMap(t *testing.T) {
	t.Parallel()
	stored := &Stored{data: map[string]string{keys.UsageData: "[]", keys.BudgetUsageData: "{"}}
	if _, err := stored.FairShare(); err != nil {
		t.Error(err)
	}
	if _, err := stored.Budgets(); err == nil || !strings.Contains(err.Error(), "ConfigMap volcano-system/"+keys.UsageName) {
		t.Errorf("error %v", err)
	}
}
