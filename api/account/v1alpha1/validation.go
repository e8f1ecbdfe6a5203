package v1alpha1

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

const (
	// maxUsers is the maximum number of users of an account. The CRD has the same limit.
	maxUsers = 2000
	// maxShares is the largest number of shares of an account or a user.
	maxShares = 1_000_000
	// maxNameLength is the maximum length of the name of an account, because a label of jobs holds it.
	maxNameLength = 63
)

// budgetPeriods lists the periods of budgets.
var budgetPeriods = []BudgetPeriod{BudgetPeriodNone, BudgetPeriodMonth, BudgetPeriodQuarter, BudgetPeriodYear}

// Validate returns the errors of a new or changed account. others contains all accounts; it may contain an earlier
// version of this one. If others is nil, the checks that involve other accounts are skipped.
//
// Two updates at the same time can still form a cycle, because neither sees the other. Tree.Path tolerates cycles.
func Validate(account *Account, others *Tree) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if len(account.Name) > maxNameLength {
		errs = append(errs, field.TooLong(field.NewPath("metadata", "name"), account.Name, maxNameLength))
	}
	if others == nil {
		others = NewTree(nil)
	} else if err := others.checkParent(account); err != nil {
		errs = append(errs, field.Invalid(spec.Child("parent"), account.Spec.Parent, err.Error()))
	}
	errs = append(errs, validateShares(account.Spec.Shares, spec.Child("shares"))...)
	errs = append(errs, validateAccountLimits(account.Spec.Limits, spec.Child("limits"))...)
	errs = append(errs, validateUserLimits(account.Spec.UserLimits, spec.Child("userLimits"))...)
	errs = append(errs, validatePermittedQOS(&account.Spec, spec)...)
	return append(errs, validateUsers(account, others, spec.Child("users"))...)
}

// ValidateDeletion returns an error if other accounts are below the named one.
func ValidateDeletion(name string, others *Tree) error {
	if children := others.Children(name); len(children) > 0 {
		return fmt.Errorf("account %s cannot be deleted, because account %s is below it: delete it or change its parent first", name, children[0])
	}
	return nil
}

func validateUsers(account *Account, others *Tree, path *field.Path) field.ErrorList {
	users := account.Spec.Users
	if len(users) > maxUsers {
		return field.ErrorList{field.TooMany(path, len(users), maxUsers)}
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i := range users {
		user := &users[i]
		path := path.Index(i)
		switch {
		case user.Name == "":
			errs = append(errs, field.Required(path.Child("name"), "name the user"))
		case seen[user.Name]:
			errs = append(errs, field.Duplicate(path.Child("name"), user.Name))
		}
		seen[user.Name] = true
		other := others.DefaultAccount(user.Name)
		hasOtherDefault := other != "" && other != account.Name
		if user.Default && hasOtherDefault {
			errs = append(errs, field.Invalid(path.Child("default"), true, fmt.Sprintf("account %s is already the default account of user %s: change that account first", other, user.Name)))
		}
		errs = append(errs, validateShares(user.Shares, path.Child("shares"))...)
		errs = append(errs, validateUserLimits(user.Limits, path.Child("limits"))...)
	}
	return errs
}

func validateShares(shares *int32, path *field.Path) field.ErrorList {
	if shares == nil || (*shares >= 0 && *shares <= maxShares) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *shares, fmt.Sprintf("must be between 0 and %d", maxShares))}
}

func validateAccountLimits(limits *AccountLimits, path *field.Path) field.ErrorList {
	if limits == nil {
		return nil
	}
	errs := validateCount(limits.MaxRunningJobs, path.Child("maxRunningJobs"))
	errs = append(errs, validateCount(limits.MaxSubmittedJobs, path.Child("maxSubmittedJobs"))...)
	errs = append(errs, validateResources(limits.MaxResources, path.Child("maxResources"))...)
	return append(errs, validateBudget(limits.Budget, path.Child("budget"))...)
}

func validateBudget(budget *Budget, path *field.Path) field.ErrorList {
	if budget == nil {
		return nil
	}
	errs := validateResources(budget.ResourceMinutes, path.Child("resourceMinutes"))
	if len(budget.ResourceMinutes) == 0 {
		errs = append(errs, field.Required(path.Child("resourceMinutes"), "specify the amount of at least one resource, for example cpu: 60000; or remove the budget"))
	}
	if budget.Period != "" && !slices.Contains(budgetPeriods, budget.Period) {
		errs = append(errs, field.NotSupported(path.Child("period"), budget.Period, budgetPeriods))
	}
	return errs
}

func validateUserLimits(limits *UserLimits, path *field.Path) field.ErrorList {
	if limits == nil {
		return nil
	}
	errs := validateCount(limits.MaxRunningJobs, path.Child("maxRunningJobs"))
	errs = append(errs, validateCount(limits.MaxSubmittedJobs, path.Child("maxSubmittedJobs"))...)
	errs = append(errs, validateResources(limits.MaxResources, path.Child("maxResources"))...)
	errs = append(errs, validateResources(limits.MaxResourcesPerJob, path.Child("maxResourcesPerJob"))...)
	return append(errs, validateRunTime(limits.MaxRunTime, path.Child("maxRunTime"))...)
}

// validateResources returns the errors of limited resources. A limit for a name that is not a resource of nodes would have
// no effect.
func validateResources(list corev1.ResourceList, path *field.Path) field.ErrorList {
	errs := schedulingv1beta1.ValidateResources(list, path)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if !schedulingv1beta1.IsNodeResource(name) {
			errs = append(errs, field.Invalid(path.Key(string(name)), string(name), "is not a resource of nodes: use for example cpu, memory, pods or nvidia.com/gpu"))
		}
	}
	return errs
}

func validateCount(limit *int32, path *field.Path) field.ErrorList {
	if limit == nil || *limit >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *limit, "must be greater than or equal to 0; omit the field for no limit")}
}

func validateRunTime(limit *metav1.Duration, path *field.Path) field.ErrorList {
	if limit == nil || limit.Duration >= time.Second {
		return nil
	}
	return field.ErrorList{field.Invalid(path, limit.Duration.String(), "must be at least 1s; omit the field for no limit")}
}
