package sacctmgr

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/usererror"
)

// QOSWrite is a change of a QOS object.
type QOSWrite struct {
	Action Action
	QOS    *accountv1alpha1.QOS
	// Before is the version of the QOS from which QOS was computed. It is nil for a new QOS.
	Before *accountv1alpha1.QOS
}

// selectsQOS reports whether a selection selects a QOS.
func (s *Selection) selectsQOS(qos *accountv1alpha1.QOS) bool {
	hasName := len(s.QOS) == 0 || slices.Contains(s.QOS, qos.Name)
	hasDescription := len(s.Descriptions) == 0 || slices.Contains(s.Descriptions, qos.Spec.Description)
	return hasName && hasDescription
}

// selectQOS returns the names of the QOS that a selection selects.
func (c *Cluster) selectQOS(s *Selection) []string {
	return slices.DeleteFunc(c.Accounts.QOSNames(), func(name string) bool { return !s.selectsQOS(c.Accounts.QOS(name)) })
}

// addQOS creates the QOS that do not exist.
func (p *planner) addQOS() error {
	r := p.request
	var names []string
	for _, name := range r.Where.QOS {
		if p.cluster.Accounts.QOS(name) != nil {
			continue
		}
		qos := &accountv1alpha1.QOS{ObjectMeta: metav1.ObjectMeta{Name: name}}
		qos.Spec.Description = name
		if err := p.applyToQOS(qos); err != nil {
			return err
		}
		p.qosWrites = append(p.qosWrites, QOSWrite{Action: Create, QOS: qos})
		names = append(names, "  "+name+"\n")
	}
	if len(names) == 0 {
		return nil
	}
	p.writeList(" Adding QOS(s)", names)
	p.writeList(" Settings", append([]string{"  Description    = " + r.findSetting(Description, "QOS Name") + "\n"}, settingLines(r.Entity, r.Set)...))
	return nil
}

// modifyQOS changes the selected QOS.
func (p *planner) modifyQOS() error {
	var names []string
	for _, name := range p.cluster.selectQOS(&p.request.Where) {
		before := p.cluster.Accounts.QOS(name)
		edited := before.DeepCopy()
		if err := p.applyToQOS(edited); err != nil {
			return err
		}
		if !equality.Semantic.DeepEqual(before.Spec, edited.Spec) {
			p.qosWrites = append(p.qosWrites, QOSWrite{Update, edited, before.DeepCopy()})
		}
		names = append(names, "  "+name+"\n")
	}
	p.writeList(" Modified qos...", names)
	return nil
}

// deleteQOS deletes the selected QOS. It returns an error if an account names one of them: without the last name in its list,
// an account would permit all QOS.
func (p *planner) deleteQOS() error {
	var names []string
	for _, name := range p.cluster.selectQOS(&p.request.Where) {
		for _, account := range p.cluster.Accounts.Names() {
			if namesQOS(p.cluster.Accounts.Account(account), name) {
				return usererror.Errorf(fmt.Sprintf("use another QOS there first, for example: sacctmgr modify account %s set qos=LIST defaultqos=NAME", account), "QOS %s cannot be deleted, because account %s or one of its users names it", name, account)
			}
		}
		old := p.cluster.Accounts.QOS(name)
		p.qosWrites = append(p.qosWrites, QOSWrite{Remove, old.DeepCopy(), old.DeepCopy()})
		names = append(names, "  "+name+"\n")
	}
	p.writeList(" Deleting QOS(s)...", names)
	return nil
}

// namesQOS reports whether an account or one of its users permits a QOS by name or has it as the default.
func namesQOS(account *accountv1alpha1.Account, name string) bool {
	names := func(p *accountv1alpha1.PermittedQOS) bool {
		return p.DefaultQOS == name || slices.Contains(p.QOS, name)
	}
	return names(&account.Spec.PermittedQOS) ||
		slices.ContainsFunc(account.Spec.Users, func(u accountv1alpha1.AccountUser) bool { return names(&u.PermittedQOS) })
}

// applyToQOS applies the settings to a QOS.
func (p *planner) applyToQOS(qos *accountv1alpha1.QOS) error {
	for i := range p.request.Set {
		if err := p.applySettingToQOS(&qos.Spec, &p.request.Set[i]); err != nil {
			return err
		}
	}
	if errs := accountv1alpha1.ValidateQOS(qos); len(errs) > 0 {
		return usererror.Errorf("correct the value", "qos %s: %v", qos.Name, errs.ToAggregate())
	}
	return nil
}

func (p *planner) applySettingToQOS(spec *accountv1alpha1.QOSSpec, s *Setting) (err error) {
	switch s.Key {
	case Description:
		spec.Description = s.Text
	case Priority:
		spec.PriorityClassName, err = p.cluster.findClass(s.Text)
	case GrpJobs, GrpSubmitJobs, GrpTRES:
		spec.Limits, err = changeQOSLimits(spec.Limits, s, p.cluster.Site)
	case MaxJobs, MaxSubmitJobs, MaxTRESPerUser:
		spec.UserLimits, err = changeQOSLimits(spec.UserLimits, s, p.cluster.Site)
	case MaxJobsPerAccount, MaxSubmitJobsPerAccount, MaxTRESPerAccount:
		spec.AccountLimits, err = changeQOSLimits(spec.AccountLimits, s, p.cluster.Site)
	case MaxTRESPerJob, MaxWall:
		spec.JobLimits, err = changeQOSJobLimits(spec.JobLimits, s, p.cluster.Site)
	}
	return err
}

// changeQOSLimits returns the limits with the value of a setting. The result is nil if no limit remains.
func changeQOSLimits(old *accountv1alpha1.QOSLimits, s *Setting, site *profile.Profile) (limits *accountv1alpha1.QOSLimits, err error) {
	limits = &accountv1alpha1.QOSLimits{}
	if old != nil {
		limits = old.DeepCopy()
	}
	switch s.Key {
	case GrpJobs, MaxJobs, MaxJobsPerAccount:
		limits.MaxRunningJobs = changeNumber(s.Number)
	case GrpSubmitJobs, MaxSubmitJobs, MaxSubmitJobsPerAccount:
		limits.MaxSubmittedJobs = changeNumber(s.Number)
	default:
		limits.MaxResources, err = changeResources(limits.MaxResources, s.Amounts, site)
	}
	if equality.Semantic.DeepEqual(limits, &accountv1alpha1.QOSLimits{}) {
		return nil, err
	}
	return limits, err
}

// changeQOSJobLimits is like changeQOSLimits, but for the limits of each job.
func changeQOSJobLimits(old *accountv1alpha1.QOSJobLimits, s *Setting, site *profile.Profile) (limits *accountv1alpha1.QOSJobLimits, err error) {
	limits = &accountv1alpha1.QOSJobLimits{}
	if old != nil {
		limits = old.DeepCopy()
	}
	switch {
	case s.Key == MaxTRESPerJob:
		limits.MaxResources, err = changeResources(limits.MaxResources, s.Amounts, site)
	case s.Wall == noLimit:
		limits.MaxRunTime = nil
	default:
		limits.MaxRunTime = &metav1.Duration{Duration: s.Wall}
	}
	if equality.Semantic.DeepEqual(limits, &accountv1alpha1.QOSJobLimits{}) {
		return nil, err
	}
	return limits, err
}

// findClass returns the name of the priority class with a name or a value. The value 0 without such a class, and the value -1,
// stand for no priority class.
func (c *Cluster) findClass(text string) (string, error) {
	if _, exists := c.Classes[text]; exists {
		return text, nil
	}
	names := slices.Sorted(maps.Keys(c.Classes))
	for _, name := range names {
		if strconv.Itoa(int(c.Classes[name])) == text {
			return name, nil
		}
	}
	if text == "0" || text == "-1" {
		return "", nil
	}
	hint := "the cluster has no priority classes; create one with kubectl create priorityclass"
	if len(names) > 0 {
		known := make([]string, len(names))
		for i, name := range names {
			known[i] = fmt.Sprintf("%s (%d)", name, c.Classes[name])
		}
		hint = "use the name or the value of a priority class: " + strings.Join(known, ", ") + "; -1 removes it"
	}
	return "", usererror.Errorf(hint, "Invalid value: priority=%s", text)
}

// applyPermittedQOS applies a setting to the QOS of an account or, if user is set, of a user. It returns false if the setting is
// another one. An account that does not exist yet has the QOS of its parent.
func (p *planner) applyPermittedQOS(permitted *accountv1alpha1.PermittedQOS, account, user string, s *Setting) (isQOS bool, err error) {
	var names []string
	switch s.Key {
	case QOSList:
		names = s.Names
	case DefaultQOS:
		if s.Text != "-1" {
			names = []string{s.Text}
		}
	default:
		return false, nil
	}
	for _, name := range names {
		if p.cluster.Accounts.QOS(name) == nil {
			return true, usererror.Errorf("sacctmgr show qos lists them; create one with sacctmgr add qos "+name, "Invalid QOS: %s", name)
		}
	}
	if s.Key == DefaultQOS {
		permitted.DefaultQOS = strings.Join(names, "")
		return true, nil
	}
	if len(permitted.QOS) == 0 {
		permitted.QOS = p.inheritedQOS(account, user, s.Op)
		if isOpen := s.Op == Include && len(permitted.QOS) == 0; isOpen {
			return true, usererror.Errorf("to permit only some, use qos=LIST", "qos+=: all QOS are permitted already")
		}
	}
	permitted.QOS, err = changeList("qos", permitted.QOS, s)
	return true, err
}

// inheritedQOS returns the list to which += and -= apply if an account or a user has no list: the inherited list.
// Without an inherited list, all QOS are permitted, and -= removes names from all of them.
func (p *planner) inheritedQOS(account, user string, op Op) []string {
	if op == Replace {
		return nil
	}
	if p.cluster.Accounts.Account(account) == nil {
		account = p.request.findSetting(Parent, Root)
	}
	listed := slices.Clone(p.cluster.Accounts.ListedQOS(account, user))
	if len(listed) == 0 && op == Exclude {
		return p.cluster.Accounts.QOSNames()
	}
	return listed
}
