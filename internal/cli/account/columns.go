package account

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
)

// column is a column of a table of accounts.
type column = cli.Column[*accountv1alpha1.Account]

func listColumns(f *cli.Factory) []column {
	text := func(title string, isWide bool, of func(*accountv1alpha1.AccountSpec) string) column {
		return column{Title: title, Wide: isWide, Text: func(a *accountv1alpha1.Account) string { return cmp.Or(of(&a.Spec), "-") }}
	}
	return []column{
		{Title: "NAME", Text: func(a *accountv1alpha1.Account) string { return a.Name }},
		text("PARENT", false, func(s *accountv1alpha1.AccountSpec) string { return s.Parent }),
		{Title: "USERS", Text: func(a *accountv1alpha1.Account) string { return strconv.Itoa(len(a.Spec.Users)) }},
		{Title: "SHARES", Text: func(a *accountv1alpha1.Account) string { return sharesText(a.Spec.Shares) }},
		text("MAX-JOBS", false, func(s *accountv1alpha1.AccountSpec) string { return countText(limitsOf(s).MaxRunningJobs) }),
		text("MAX-RESOURCES", false, func(s *accountv1alpha1.AccountSpec) string { return amountsText(limitsOf(s).MaxResources) }),
		text("MAX-SUBMITTED", true, func(s *accountv1alpha1.AccountSpec) string { return countText(limitsOf(s).MaxSubmittedJobs) }),
		text("COORDINATORS", true, func(s *accountv1alpha1.AccountSpec) string { return joinOrDash(s.Coordinators) }),
		text("QUEUES", true, func(s *accountv1alpha1.AccountSpec) string { return joinOrDash(s.Queues) }),
		text("NAMESPACES", true, func(s *accountv1alpha1.AccountSpec) string { return joinOrDash(s.Namespaces) }),
		text("ORGANIZATION", true, func(s *accountv1alpha1.AccountSpec) string { return s.Organization }),
		{
			Title: "AGE", Volatile: true,
			Text: func(a *accountv1alpha1.Account) string {
				return render.FormatAgeSince(f.Now(), a.CreationTimestamp.Time)
			},
			Compare: func(a, b *accountv1alpha1.Account) int { return b.CreationTimestamp.Compare(a.CreationTimestamp.Time) },
		},
		text("DESCRIPTION", false, func(s *accountv1alpha1.AccountSpec) string { return s.Description }),
	}
}

// limitsOf returns the limits of all jobs of an account, which are empty if it has none.
func limitsOf(s *accountv1alpha1.AccountSpec) accountv1alpha1.AccountLimits {
	if s.Limits == nil {
		return accountv1alpha1.AccountLimits{}
	}
	return *s.Limits
}

// sharesText returns the number of shares. Its default is 1.
func sharesText(shares *int32) string { return cmp.Or(countText(shares), "1") }

// countText returns a limit, or "" if it is not set.
func countText(limit *int32) string {
	if limit == nil {
		return ""
	}
	return strconv.Itoa(int(*limit))
}

// amountsText returns amounts of resources in the form of the flags: cpu=16,memory=64Gi. It returns "" if there are none.
func amountsText(list corev1.ResourceList) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		amount := list[name]
		parts = append(parts, string(name)+"="+amount.String())
	}
	return strings.Join(parts, ",")
}
