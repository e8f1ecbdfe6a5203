package v1alpha1

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxListedQOS is the maximum number of QOS that an account or a user lists. The CRD has the same limit.
const maxListedQOS = 64

// ValidateQOS returns the errors of a new or changed QOS.
func ValidateQOS(qos *QOS) field.ErrorList {
	spec := field.NewPath("spec")
	var errs field.ErrorList
	if len(qos.Name) > maxNameLength {
		errs = append(errs, field.TooLong(field.NewPath("metadata", "name"), qos.Name, maxNameLength))
	}
	if class := qos.Spec.PriorityClassName; class != "" {
		for _, text := range validation.IsDNS1123Subdomain(class) {
			errs = append(errs, field.Invalid(spec.Child("priorityClassName"), class, text))
		}
	}
	errs = append(errs, validateQOSLimits(qos.Spec.Limits, spec.Child("limits"))...)
	errs = append(errs, validateQOSLimits(qos.Spec.UserLimits, spec.Child("userLimits"))...)
	errs = append(errs, validateQOSLimits(qos.Spec.AccountLimits, spec.Child("accountLimits"))...)
	if limits := qos.Spec.JobLimits; limits != nil {
		path := spec.Child("jobLimits")
		errs = append(errs, validateResources(limits.MaxResources, path.Child("maxResources"))...)
		errs = append(errs, validateRunTime(limits.MaxRunTime, path.Child("maxRunTime"))...)
	}
	return errs
}

func validateQOSLimits(limits *QOSLimits, path *field.Path) field.ErrorList {
	if limits == nil {
		return nil
	}
	errs := validateCount(limits.MaxRunningJobs, path.Child("maxRunningJobs"))
	errs = append(errs, validateCount(limits.MaxSubmittedJobs, path.Child("maxSubmittedJobs"))...)
	return append(errs, validateResources(limits.MaxResources, path.Child("maxResources"))...)
}

// validatePermittedQOS returns the errors of the QOS of an account and of its users. It does not require that a QOS
// exists, because it may be created after the account.
func validatePermittedQOS(spec *AccountSpec, path *field.Path) field.ErrorList {
	errs := spec.validate(path, spec.QOS)
	for i := range spec.Users {
		user := &spec.Users[i]
		listed := user.QOS
		if len(listed) == 0 {
			listed = spec.QOS
		}
		errs = append(errs, user.validate(path.Child("users").Index(i), listed)...)
	}
	return errs
}

// validate returns the errors of a list and its default. listed is the list that applies, which may be that of the account.
func (p *PermittedQOS) validate(path *field.Path, listed []string) field.ErrorList {
	if len(p.QOS) > maxListedQOS {
		return field.ErrorList{field.TooMany(path.Child("qos"), len(p.QOS), maxListedQOS)}
	}
	var errs field.ErrorList
	for i, name := range p.QOS {
		path := path.Child("qos").Index(i)
		switch {
		case name == "":
			errs = append(errs, field.Required(path, "name the QOS"))
		case slices.Contains(p.QOS[:i], name):
			errs = append(errs, field.Duplicate(path, name))
		}
	}
	isMissing := len(listed) > 0 && !slices.Contains(listed, p.DefaultQOS)
	if p.DefaultQOS != "" && isMissing {
		errs = append(errs, field.Invalid(path.Child("defaultQOS"), p.DefaultQOS, fmt.Sprintf("is not one of the permitted QOS (%s): add it to field qos", strings.Join(listed, ", "))))
	}
	return errs
}

// UnknownQOS returns the names of QOS in an account that do not exist, without duplicates.
func (t *Tree) UnknownQOS(account *Account) []string {
	var unknown []string
	add := func(permitted *PermittedQOS) {
		for _, name := range append(slices.Clone(permitted.QOS), permitted.DefaultQOS) {
			isKnown := name == "" || t.qos[name] != nil
			if !isKnown && !slices.Contains(unknown, name) {
				unknown = append(unknown, name)
			}
		}
	}
	add(&account.Spec.PermittedQOS)
	for i := range account.Spec.Users {
		add(&account.Spec.Users[i].PermittedQOS)
	}
	return unknown
}
