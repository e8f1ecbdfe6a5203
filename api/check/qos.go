package check

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// SlurmInvalidQOS is Slurm's message for jobs whose QOS does not exist or is not permitted.
const SlurmInvalidQOS = "Invalid qos specification"

// DefaultQOS sets the QOS of an object that names none to the default of its user and account.
func DefaultQOS(object metav1.Object, tree *accountv1alpha1.Tree) {
	if object.GetLabels()[keys.QOS] == "" {
		setLabel(object, keys.QOS, tree.DefaultQOS(object.GetLabels()[keys.Account], batchv1alpha1.UserOf(object)))
	}
}

// SetQOS sets the QOS of an object. It does nothing if the QOS is "".
func SetQOS(object metav1.Object, qos string) { setLabel(object, keys.QOS, qos) }

// DefaultQOSClass sets the priority class of a job that names none to the class of its QOS.
func DefaultQOSClass(job *batchv1alpha1.Job, tree *accountv1alpha1.Tree) {
	if qos := tree.QOS(job.Labels[keys.QOS]); qos != nil && job.Spec.PriorityClassName == "" {
		job.Spec.PriorityClassName = qos.Spec.PriorityClassName
	}
}

// setLabel sets a label of an object. It does nothing if the value is "".
func setLabel(object metav1.Object, key, value string) {
	if value == "" {
		return
	}
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[key] = value
	object.SetLabels(labels)
}

// qosPath returns the path of the label with the QOS.
func (c *accountCheck) qosPath() *field.Path {
	return c.at.Child("metadata", "labels").Key(keys.QOS)
}

// checkQOS checks that the QOS of the object exists, and that the account permits it. required is true if the object must
// name its QOS, because the account does not permit all QOS. Without any QOS object, the label is free text.
func (c *accountCheck) checkQOS(required bool) field.ErrorList {
	if !c.tree.HasQOS() {
		return nil
	}
	listed := c.tree.ListedQOS(c.account, c.user)
	switch {
	case c.qosName == "" && required && len(listed) > 0:
		return field.ErrorList{field.Required(c.qosPath(), c.addAvailableQOS("set this label to the name of a QOS"))}
	case c.qosName == "":
		return nil
	case c.qos == nil:
		return field.ErrorList{field.Invalid(c.qosPath(), c.qosName, c.addAvailableQOS("this QOS does not exist"))}
	case len(listed) > 0 && !slices.Contains(listed, c.qosName):
		return field.ErrorList{field.Forbidden(c.qosPath(), c.addAvailableQOS(fmt.Sprintf("account %s does not permit QOS %s for user %q", c.account, c.qosName, c.user)))}
	}
	return nil
}

// addAvailableQOS adds the permitted QOS and Slurm's message to a reason.
func (c *accountCheck) addAvailableQOS(reason string) string {
	whose := fmt.Sprintf("user %q", c.user)
	if c.account != "" {
		whose += " in account " + c.account
	}
	hint := fmt.Sprintf("no QOS is permitted for %s; ask an administrator to permit one", whose)
	if names := c.tree.AvailableQOS(c.account, c.user); len(names) > 0 {
		hint = fmt.Sprintf("the QOS of %s are: %s", whose, listSome(names))
	}
	return reason + "; " + hint + ": " + SlurmInvalidQOS
}

// checkClass checks that a job does not name another priority class than that of its QOS. isDefaulted is true if a missing
// class has been filled in.
func (c *accountCheck) checkClass(job *batchv1alpha1.Job, isDefaulted bool) field.ErrorList {
	if c.qos == nil || c.qos.Spec.PriorityClassName == "" {
		return nil
	}
	spec := c.at.Child("spec")
	errs := c.checkClassName(spec.Child("priorityClassName"), job.Spec.PriorityClassName, !isDefaulted)
	for i := range job.Spec.Tasks {
		path := spec.Child("tasks").Index(i).Child("template", "spec", "priorityClassName")
		errs = append(errs, c.checkClassName(path, job.Spec.Tasks[i].Template.Spec.PriorityClassName, true)...)
	}
	return errs
}

// checkClassName checks the name of one priority class.
func (c *accountCheck) checkClassName(path *field.Path, class string, mayBeEmpty bool) field.ErrorList {
	want := c.qos.Spec.PriorityClassName
	isOmitted := class == "" && mayBeEmpty
	if class == want || isOmitted {
		return nil
	}
	return field.ErrorList{field.Invalid(path, class, fmt.Sprintf(
		"jobs of QOS %s have priority class %s: remove this field, or use another QOS: %s", c.qos.Name, want, SlurmInvalidQOS))}
}

// hasSameClasses reports whether two versions of a job name the same priority classes.
func hasSameClasses(old, job *batchv1alpha1.Job) bool {
	sameTask := func(a, b batchv1alpha1.TaskSpec) bool {
		return a.Template.Spec.PriorityClassName == b.Template.Spec.PriorityClassName
	}
	return old.Spec.PriorityClassName == job.Spec.PriorityClassName && slices.EqualFunc(old.Spec.Tasks, job.Spec.Tasks, sameTask)
}

// qosRunTimeLimit returns the longest run time that the QOS permits. It is 0 if the QOS has no such limit.
func (c *accountCheck) qosRunTimeLimit() time.Duration {
	if limits := c.qosJobLimits(); limits != nil && limits.MaxRunTime != nil {
		return limits.MaxRunTime.Duration
	}
	return 0
}

func (c *accountCheck) qosJobLimits() *accountv1alpha1.QOSJobLimits {
	if c.qos == nil {
		return nil
	}
	return c.qos.Spec.JobLimits
}

// LongestRunTime returns the longest run time that a job's QOS permits or, if it has no such limit, that its account permits
// its user; 0 means no limit.
func LongestRunTime(job *batchv1alpha1.Job, tree *accountv1alpha1.Tree) time.Duration {
	most, _ := newAccountCheck(tree, job, "", nil).runTimeLimit()
	return most
}

func newQOS(qos *accountv1alpha1.QOS, _ *Around) Verdict {
	return Verdict{Errors: accountv1alpha1.ValidateQOS(qos)}
}

// warnAboutUnknownQOS returns warnings about QOS in an account that do not exist. They may be created after the account.
func (a *Around) warnAboutUnknownQOS(account *accountv1alpha1.Account) []string {
	if a.Accounts == nil {
		return nil
	}
	tree := a.Accounts.Accounts()
	if tree == nil || len(tree.UnknownQOS(account)) == 0 {
		return nil
	}
	if tree = a.Accounts.CurrentAccounts(); tree == nil {
		return nil
	}
	var warnings []string
	for _, name := range tree.UnknownQOS(account) {
		warnings = append(warnings, fmt.Sprintf("account %s names QOS %q, which does not exist", account.Name, name))
	}
	return warnings
}
