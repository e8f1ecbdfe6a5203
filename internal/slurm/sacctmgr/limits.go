package sacctmgr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/listrow"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/timeformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// gresPrefix is the beginning of the names of generic resources.
const gresPrefix = "gres/"

// findResource returns the Kubernetes resource for a resource with Slurm's name.
func findResource(tres string, site *profile.Profile) (corev1.ResourceName, error) {
	gres, isGres := strings.CutPrefix(tres, gresPrefix)
	switch {
	case tres == "cpu":
		return corev1.ResourceCPU, nil
	case tres == "mem":
		return corev1.ResourceMemory, nil
	case !isGres:
		return corev1.ResourceName(tres), nil
	}
	if found, ok := site.FindGres(gres); ok {
		return found.Resource, nil
	}
	return "", usererror.Errorf("generic resources are "+strings.Join(site.GresNames(), ", ")+"; or use the name of a resource of Kubernetes, such as nvidia.com/gpu", "Invalid TRES: %s", tres)
}

// tresName returns Slurm's name for a Kubernetes resource. It is the inverse of findResource.
func tresName(name corev1.ResourceName, site *profile.Profile) string {
	switch name {
	case corev1.ResourceCPU:
		return "cpu"
	case corev1.ResourceMemory:
		return "mem"
	}
	for _, gres := range site.GresNames() {
		if found, ok := site.FindGres(gres); ok && found.Resource == name {
			return gresPrefix + gres
		}
	}
	return string(name)
}

// FormatResources returns limits of resources as Slurm prints them: cpu=100,mem=1T,gres/gpu=8.
func FormatResources(list corev1.ResourceList, site *profile.Profile) string {
	names := make([]corev1.ResourceName, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	order := func(name corev1.ResourceName) string { // cpu and mem come first
		return map[corev1.ResourceName]string{corev1.ResourceCPU: "0", corev1.ResourceMemory: "1"}[name] + "2" + string(name)
	}
	slices.SortFunc(names, func(a, b corev1.ResourceName) int { return strings.Compare(order(a), order(b)) })
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = tresName(name, site) + "=" + formatQuantity(name, list[name])
	}
	return strings.Join(parts, ",")
}

func formatQuantity(name corev1.ResourceName, amount resource.Quantity) string {
	switch {
	case name == corev1.ResourceMemory:
		return listrow.FormatMemory(amount.Value())
	case amount.MilliValue()%1000 != 0:
		return strconv.FormatFloat(amount.AsApproximateFloat64(), 'f', -1, 64)
	}
	return strconv.FormatInt(amount.Value(), 10)
}

// changeResources returns the limits with the amounts of a setting. It removes all limits if amounts is empty.
func changeResources(old corev1.ResourceList, amounts []Amount, site *profile.Profile) (corev1.ResourceList, error) {
	if len(amounts) == 0 {
		return nil, nil
	}
	changed := old.DeepCopy()
	for _, amount := range amounts {
		name, err := findResource(amount.TRES, site)
		if err != nil {
			return nil, err
		}
		if amount.Value == noLimit {
			delete(changed, name)
			continue
		}
		if changed == nil {
			changed = corev1.ResourceList{}
		}
		format := resource.DecimalSI
		if name == corev1.ResourceMemory {
			format = resource.BinarySI
		}
		changed[name] = *resource.NewQuantity(amount.Value, format)
	}
	if len(changed) == 0 {
		return nil, nil
	}
	return changed, nil
}

// changeNumber returns the number of a setting, or nil if the setting removes the limit.
func changeNumber(number int32) *int32 {
	if number == noLimit {
		return nil
	}
	return &number
}

// changeUserLimits returns the limits with the value of a setting. The result is nil if no limit remains. isLimit is
// false if the setting is not one of these limits.
func changeUserLimits(old *accountv1alpha1.UserLimits, s *Setting, site *profile.Profile) (limits *accountv1alpha1.UserLimits, isLimit bool, err error) {
	limits = &accountv1alpha1.UserLimits{}
	if old != nil {
		limits = old.DeepCopy()
	}
	switch s.Key {
	case MaxJobs:
		limits.MaxRunningJobs = changeNumber(s.Number)
	case MaxSubmitJobs:
		limits.MaxSubmittedJobs = changeNumber(s.Number)
	case MaxTRESPerJob:
		limits.MaxResourcesPerJob, err = changeResources(limits.MaxResourcesPerJob, s.Amounts, site)
	case MaxTRESPerUser:
		limits.MaxResources, err = changeResources(limits.MaxResources, s.Amounts, site)
	case MaxWall:
		limits.MaxRunTime = nil
		if s.Wall != noLimit {
			limits.MaxRunTime = &metav1.Duration{Duration: s.Wall}
		}
	default:
		return old, false, nil
	}
	isEmpty := limits.MaxRunningJobs == nil && limits.MaxSubmittedJobs == nil && limits.MaxRunTime == nil
	if hasResources := len(limits.MaxResources)+len(limits.MaxResourcesPerJob) > 0; isEmpty && !hasResources {
		return nil, true, err
	}
	return limits, true, err
}

// changeAccountLimits is like changeUserLimits, but for the limits of an account.
func changeAccountLimits(old *accountv1alpha1.AccountLimits, s *Setting, site *profile.Profile) (limits *accountv1alpha1.AccountLimits, isLimit bool, err error) {
	limits = &accountv1alpha1.AccountLimits{}
	if old != nil {
		limits = old.DeepCopy()
	}
	switch s.Key {
	case GrpJobs:
		limits.MaxRunningJobs = changeNumber(s.Number)
	case GrpSubmitJobs:
		limits.MaxSubmittedJobs = changeNumber(s.Number)
	case GrpTRES:
		limits.MaxResources, err = changeResources(limits.MaxResources, s.Amounts, site)
	case GrpTRESMins:
		limits.Budget, err = changeBudget(limits.Budget, s.Amounts, site)
	case BudgetPeriod:
		if limits.Budget == nil {
			limits.Budget = &accountv1alpha1.Budget{}
		}
		limits.Budget.Period = accountv1alpha1.BudgetPeriod(s.Text)
	default:
		return old, false, nil
	}
	hasCounts := limits.MaxRunningJobs != nil || limits.MaxSubmittedJobs != nil
	if hasResources := len(limits.MaxResources) > 0 || limits.Budget != nil; !hasCounts && !hasResources {
		return nil, true, err
	}
	return limits, true, err
}

// changeBudget returns the budget with the amounts of a setting. It returns nil if no amount remains.
func changeBudget(old *accountv1alpha1.Budget, amounts []Amount, site *profile.Profile) (*accountv1alpha1.Budget, error) {
	budget := &accountv1alpha1.Budget{}
	if old != nil {
		budget = old
	}
	var err error
	budget.ResourceMinutes, err = changeResources(budget.ResourceMinutes, amounts, site)
	if err != nil || len(budget.ResourceMinutes) == 0 {
		return nil, err
	}
	return budget, nil
}

// formatNumber returns a limit, or "" if it is not set.
func formatNumber(number *int32) string {
	if number == nil {
		return ""
	}
	return strconv.Itoa(int(*number))
}

// formatWall returns a time limit as sacctmgr prints it, or "" if it is not set.
func formatWall(limit *metav1.Duration) string {
	if limit == nil {
		return ""
	}
	return timeformat.LongDuration(limit.Duration)
}

// text returns the value of a setting for the list of settings, without the name.
func (s *Setting) text() string {
	switch {
	case s.Key == GrpTRES, s.Key == GrpTRESMins, s.Key == MaxTRESPerJob, s.Key == MaxTRESPerUser, s.Key == MaxTRESPerAccount:
		return amountsText(s.Amounts)
	case s.Key == MaxWall && s.Wall == noLimit:
		return "NONE"
	case s.Key == MaxWall:
		return timeformat.LongDuration(s.Wall)
	case s.Key == Queues, s.Key == Namespaces, s.Key == QOSList:
		return strings.Join(s.Names, ",")
	case s.Key == Parent, s.Key == BudgetPeriod, s.Key == Description, s.Key == Organization, s.Key == DefaultAccount, s.Key == DefaultQOS, s.Key == Priority:
		return s.Text
	case s.Number == noLimit:
		return "NONE"
	}
	return strconv.Itoa(int(s.Number))
}

func amountsText(amounts []Amount) string {
	if len(amounts) == 0 {
		return "NONE"
	}
	parts := make([]string, len(amounts))
	for i, amount := range amounts {
		value := strconv.FormatInt(amount.Value, 10)
		if amount.TRES == "mem" && amount.Value != noLimit {
			value = listrow.FormatMemory(amount.Value)
		}
		parts[i] = amount.TRES + "=" + value
	}
	return strings.Join(parts, ",")
}

// settingTitles maps limits to their titles in the list of settings.
var settingTitles = map[Key]string{MaxTRESPerJob: "MaxTRES", MaxTRESPerUser: "MaxTRESPU", MaxWall: "MaxWall"}

// qosSettingTitles contains the titles of limits that apply to each user in a QOS.
var qosSettingTitles = map[Key]string{MaxJobs: "MaxJobsPU", MaxSubmitJobs: "MaxSubmitPU"}

// settingLines lists limits and shares as sacctmgr prints them before they are committed.
func settingLines(entity Entity, settings []Setting) []string {
	var lines []string
	for i := range settings {
		s := &settings[i]
		switch s.Key {
		case Description, Organization, DefaultAccount:
			continue
		}
		title := string(s.Key)
		if other, ok := settingTitles[s.Key]; ok {
			title = other
		}
		if other, ok := qosSettingTitles[s.Key]; ok && entity == QOS {
			title = other
		}
		lines = append(lines, fmt.Sprintf("  %-*s%s %s\n", settingWidth, title, s.Op, s.text()))
	}
	return lines
}

// settingWidth is the width of the titles in the list of settings.
const settingWidth = 14
