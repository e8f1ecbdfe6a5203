package sacctmgr

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
)

// qosColumns are the default columns of a list of QOS, as in Slurm.
const qosColumns = "Name,Priority,GraceTime,Preempt,PreemptExemptTime,PreemptMode,Flags,UsageThreshold,UsageFactor,GrpTRES,GrpTRESMins,GrpTRESRunMins,GrpJobs," +
	"GrpSubmitJobs,GrpWall,MaxTRES,MaxTRESPerNode,MaxTRESMins,MaxWall,MaxTRESPU,MaxJobsPU,MaxSubmitPU,MaxTRESPA,MaxJobsPA,MaxSubmitPA,MinTRES"

// addQOS adds a line for each selected QOS.
func (l *lister) addQOS() {
	for _, name := range l.cluster.selectQOS(&l.request.Where) {
		qos := l.cluster.Accounts.QOS(name)
		l.rows = append(l.rows, &Row{cluster: l.cluster.Name, site: l.cluster.Site, qos: &qos.Spec, name: name, priority: l.cluster.Classes[qos.Spec.PriorityClassName]})
	}
}

// qosFields returns the columns of a list of QOS.
func qosFields() []tableformat.Field[*Row] {
	text := func(names, title string, width int, value func(*Row) string) tableformat.Field[*Row] {
		return tableformat.NewField(0, names, title, width, value)
	}
	nothing := func(*Row) string { return "" }
	group := func(s *accountv1alpha1.QOSSpec) *accountv1alpha1.QOSLimits { return s.Limits }
	user := func(s *accountv1alpha1.QOSSpec) *accountv1alpha1.QOSLimits { return s.UserLimits }
	account := func(s *accountv1alpha1.QOSSpec) *accountv1alpha1.QOSLimits { return s.AccountLimits }
	return []tableformat.Field[*Row]{
		text("Description", "Descr", 20, func(l *Row) string { return l.qos.Description }),
		text("Flags", "Flags", 40, nothing),
		text("GraceTime", "GraceTime", 10, nothing),
		text("GrpJobs", "GrpJobs", 7, runningJobs(group)),
		text("GrpSubmitJobs", "GrpSubmit", 9, submittedJobs(group)),
		text("GrpTRES", "GrpTRES", 13, resourcesOf(group)),
		text("GrpTRESMins", "GrpTRESMins", 13, nothing),
		text("GrpTRESRunMins", "GrpTRESRunMin", 13, nothing),
		text("GrpWall", "GrpWall", 11, nothing),
		text("MaxJobsPA|MaxJobsPerAccount", "MaxJobsPA", 9, runningJobs(account)),
		text("MaxJobsPU|MaxJobsPerUser", "MaxJobsPU", 9, runningJobs(user)),
		text("MaxSubmitPA|MaxSubmitJobsPA|MaxSubmitJobsPerAccount", "MaxSubmitPA", 11, submittedJobs(account)),
		text("MaxSubmitPU|MaxSubmitJobsPU|MaxSubmitJobsPerUser", "MaxSubmitPU", 11, submittedJobs(user)),
		text("MaxTRES|MaxTRESPerJob|MaxTRESPJ", "MaxTRES", 13, func(l *Row) string { return FormatResources(l.jobResources(), l.site) }),
		text("MaxTRESMins", "MaxTRESMins", 13, nothing),
		text("MaxTRESPA|MaxTRESPerAccount", "MaxTRESPA", 13, resourcesOf(account)),
		text("MaxTRESPU|MaxTRESPerUser", "MaxTRESPU", 13, resourcesOf(user)),
		text("MaxTRESPerNode|MaxTRESPN", "MaxTRESPerNode", 14, nothing),
		text("MaxWall|MaxWallDurationPerJob", "MaxWall", 11, func(l *Row) string { return formatWall(l.jobRunTime()) }),
		text("MinTRES", "MinTRES", 13, nothing),
		text("Name", "Name", 10, func(l *Row) string { return l.name }),
		text("Preempt", "Preempt", 10, nothing),
		text("PreemptExemptTime", "PreemptExemptTime", 19, nothing),
		text("PreemptMode", "PreemptMode", 11, func(*Row) string { return "cluster" }),
		text("Priority", "Priority", 10, func(l *Row) string { return strconv.Itoa(int(l.priority)) }),
		text("PriorityClass", "PriorityClass", 20, func(l *Row) string { return l.qos.PriorityClassName }),
		text("UsageFactor", "UsageFactor", 11, func(*Row) string { return "1.000000" }),
		text("UsageThreshold", "UsageThres", 10, nothing),
	}
}

// limitsOfQOS returns the limits of a QOS for a group of jobs, or nil.
type limitsOfQOS func(*accountv1alpha1.QOSSpec) *accountv1alpha1.QOSLimits

// ofRow returns the limits of the row's QOS, which are empty if there are none.
func (of limitsOfQOS) ofRow(l *Row) accountv1alpha1.QOSLimits {
	if limits := of(l.qos); limits != nil {
		return *limits
	}
	return accountv1alpha1.QOSLimits{}
}

func runningJobs(of limitsOfQOS) func(*Row) string {
	return func(l *Row) string { return formatNumber(of.ofRow(l).MaxRunningJobs) }
}

func submittedJobs(of limitsOfQOS) func(*Row) string {
	return func(l *Row) string { return formatNumber(of.ofRow(l).MaxSubmittedJobs) }
}

func resourcesOf(of limitsOfQOS) func(*Row) string {
	return func(l *Row) string { return FormatResources(of.ofRow(l).MaxResources, l.site) }
}

// jobResources returns the limit of the resources of each job of the QOS.
func (l *Row) jobResources() corev1.ResourceList {
	if l.qos.JobLimits == nil {
		return nil
	}
	return l.qos.JobLimits.MaxResources
}

// jobRunTime returns the limit of the run time of each job of the QOS.
func (l *Row) jobRunTime() *metav1.Duration {
	if l.qos.JobLimits == nil {
		return nil
	}
	return l.qos.JobLimits.MaxRunTime
}

// permittedQOS returns the names of the QOS that the association permits. It is empty in a cluster without QOS, and in a row that
// is no association.
func (l *Row) permittedQOS() string {
	if l.name == "" || l.accounts == nil {
		return ""
	}
	return strings.Join(l.accounts.AvailableQOS(l.name, l.userName), ",")
}

// defaultQOS returns the QOS of jobs of the association that name none.
func (l *Row) defaultQOS() string {
	if l.name == "" || l.accounts == nil {
		return ""
	}
	return l.accounts.DefaultQOS(l.name, l.userName)
}
