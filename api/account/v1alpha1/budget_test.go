package v1alpha1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestAPeriodStartsAtTheCalendarBoundaryInUTC covers each period, times in other zones, and a time since which usage
// counts.
func TestAPeriodStartsAtTheCalendarBoundaryInUTC(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		period                  BudgetPeriod
		since, now, start, next string
	}{
		"month":                               {BudgetPeriodMonth, "", "2026-11-29T20:00:00Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		"the last month of a year":            {BudgetPeriodMonth, "", "2026-12-31T23:59:59Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"month, already over in UTC":          {BudgetPeriodMonth, "", "2026-11-30T20:00:00-05:00", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"the instant at which a month starts": {BudgetPeriodMonth, "", "2026-12-01T00:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"quarter":                             {BudgetPeriodQuarter, "", "2026-06-30T00:00:00Z", "2026-04-01T00:00:00Z", "2026-07-01T00:00:00Z"},
		"year":                                {BudgetPeriodYear, "", "2026-06-30T00:00:00Z", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"no period":                           {BudgetPeriodNone, "", "2026-06-30T00:00:00Z", "", ""},
		"unset period":                        {"", "", "2026-06-30T00:00:00Z", "", ""},
		"since, passed":                       {"", "2026-02-01T01:00:00+01:00", "2026-06-30T00:00:00Z", "2026-02-01T00:00:00Z", ""},
		"since, in the future":                {"", "2026-07-01T00:00:00Z", "2026-06-30T00:00:00Z", "", "2026-07-01T00:00:00Z"},
		"since, in the period":                {BudgetPeriodYear, "2026-02-01T00:00:00Z", "2026-06-30T00:00:00Z", "2026-02-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		"since, before the period":            {BudgetPeriodMonth, "2026-02-01T00:00:00Z", "2026-06-30T00:00:00Z", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"},
		"since, later in the period":          {BudgetPeriodYear, "2026-12-01T00:00:00Z", "2026-06-30T00:00:00Z", "2026-01-01T00:00:00Z", "2026-12-01T00:00:00Z"},
		"since, after the period":             {BudgetPeriodMonth, "2027-01-01T00:00:00Z", "2026-06-30T00:00:00Z", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &Budget{Period: c.period}
			if c.since != "" {
				b.Since = &metav1.Time{Time: parseTime(t, c.since)}
			}
			now := parseTime(t, c.now)
			if got := b.StartAt(now); !got.Equal(parseTime(t, c.start)) {
				t.Errorf("usage counts from %v, want %v", got, c.start)
			}
			if got := b.NextStart(now); !got.Equal(parseTime(t, c.next)) {
				t.Errorf("usage counts again from %v, want %v", got, c.next)
			}
		})
	}
}

// TestInvalidBudgetsAreRejected checks the paths of the errors.
func TestInvalidBudgetsAreRejected(t *testing.T) {
	t.Parallel()
	amounts := func(name corev1.ResourceName, amount string) corev1.ResourceList {
		return corev1.ResourceList{name: resource.MustParse(amount)}
	}
	for name, c := range map[string]struct {
		budget Budget
		want   []string
	}{
		"valid":            {Budget{ResourceMinutes: amounts("cpu", "60000"), Period: BudgetPeriodQuarter}, nil},
		"nothing at all":   {Budget{ResourceMinutes: amounts("nvidia.com/gpu", "0")}, nil},
		"negative":         {Budget{ResourceMinutes: amounts("cpu", "-1")}, []string{"spec.limits.budget.resourceMinutes[cpu]"}},
		"unknown resource": {Budget{ResourceMinutes: amounts("gpu", "1")}, []string{"spec.limits.budget.resourceMinutes[gpu]"}},
		"no resource":      {Budget{Period: BudgetPeriodMonth}, []string{"spec.limits.budget.resourceMinutes"}},
		"unknown period":   {Budget{ResourceMinutes: amounts("cpu", "1"), Period: "Week"}, []string{"spec.limits.budget.period"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, err := range Validate(newAccount("a", "", AccountSpec{Limits: &AccountLimits{Budget: &c.budget}}), NewTree(nil)) {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
