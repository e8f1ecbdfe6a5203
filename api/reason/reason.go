// Package reason contains the table of all reasons that the system reports in statuses, events, conditions, the command
// line and the dashboard. One row of the table holds everything about a reason that does not depend on numbers;
// internal/explain adds the numbers.
package reason

// Code identifies a reason. It is a CamelCase word that never changes, so that scripts can rely on it.
type Code string

// Reason is one row of the table. A row without a required value fails a test.
type Reason struct {
	Code Code
	// Step is the step of a job that the reason blocks.
	Step Step
	// Pod determines how the reason appears in the condition of a waiting pod.
	Pod PodClass
	// Never is the limit that makes waiting useless if the whole request exceeds it. Most reasons have no such limit.
	Never Never
	// Traits holds further properties that programs act on.
	Traits Traits
	// Remedies holds the changes that the scheduler simulates for a gang that is waiting for this reason.
	Remedies Remedies
	// SlurmState is Slurm's abbreviation for the state of a job that failed for this reason. It is set only for
	// failures.
	SlurmState string
	// Slurm is the name in squeue's REASON column. If the name depends on the resource, the method SlurmFor is more
	// precise.
	Slurm string
	// Sentence describes the situation.
	Sentence string
	// Hint suggests what the user can do.
	Hint string
}

// Has reports whether the reason has the trait.
func (r Reason) Has(trait Traits) bool { return r.Traits&trait != 0 }

// Step is one of the steps that a job goes through before it runs. The values are in the order of the steps.
type Step uint8

// The steps. The zero value is not a step.
const (
	AtSubmit Step = iota + 1
	AtGate
	AtQueue
	AtAdmission
	AtOrder
	AtNodes
	AtEvict
	AtStart
)

// PodClass determines which reason the condition of a waiting pod contains.
type PodClass uint8

// The pod classes. Because autoscalers interpret Unschedulable as a lack of nodes, only reasons that disappear if
// there are more nodes have this class.
const (
	// Unschedulable is the reason that Kubernetes uses for pods that do not fit on any node.
	Unschedulable PodClass = iota + 1
	// OwnCode is the code of the reason itself. More nodes would not help.
	OwnCode
	// OwnCodeUnlessGrowing is Unschedulable if an autoscaler adds nodes on demand, and otherwise the code of the
	// reason itself.
	OwnCodeUnlessGrowing
	// NotOfPods is the class of reasons that do not appear in the conditions of waiting pods.
	NotOfPods
)

// Never is the kind of limit that makes waiting useless if the whole request exceeds it.
type Never uint8

// The limits.
const (
	// BySize needs no comparison, because the reason itself concerns the whole request.
	BySize Never = iota + 1
	// ByLimit is any limit.
	ByLimit
	// ByCluster is a limit that applies to the whole cluster.
	ByCluster
)

// Traits is a set of properties of a reason.
type Traits uint16

// The traits of reasons.
const (
	// RulesOutNode is a trait of reasons that make a node unsuitable, because the pod does not select or tolerate the
	// node, or because the node is not ready.
	RulesOutNode Traits = 1 << iota
	// WaitingHelps is a trait of reasons that disappear from a node when other pods end.
	WaitingHelps
	// AboutCapacity is a trait of reasons that would not apply to a node if it were larger or had fewer pods.
	AboutCapacity
	// StaysWhenFree is a trait of reasons reported by policies that still apply when a node gets free resources.
	StaysWhenFree
	// CodeInMeaning is a trait of reasons whose code is part of the meaning of an explanation if they apply to all
	// nodes.
	CodeInMeaning
	// DetailInMeaning is like CodeInMeaning, except that the detail, which is the name of a claim, is also part of
	// the meaning.
	DetailInMeaning
	// MessageInMeaning is a trait of reasons whose message is part of the meaning of an explanation.
	MessageInMeaning
	// Routine is a trait of reasons why a pod is not evicted. Reasons with this trait are not part of the meaning of an
	// explanation.
	Routine
	// OthersHoldQueue is a trait of reasons which mean that a gang is not admitted because other gangs use or reserve
	// the resources.
	OthersHoldQueue
	// AnyChangeHelps is a trait of reasons after which a gang must be tried again whenever anything in the cluster
	// changes, for example when a pod in another queue ends.
	AnyChangeHelps
	// LimitOfAccount is a trait of reasons which mean that a limit of the gang's account, user or QOS holds the gang back.
	// Such a gang blocks no others, and gets no reservation.
	LimitOfAccount
	// DelaysJob is a trait of reasons that only this project's job controller reports, for holds, begin times and
	// dependencies.
	DelaysJob
	// CreatesNothing is a trait of reasons for jobs that have no PodGroup yet.
	CreatesNothing
	// Derived is a trait of reasons that programs derive from the state of a job and that are never stored.
	Derived
)

// Remedies is a set of changes that may help a waiting gang. Package remedy of the scheduler simulates them.
type Remedies uint8

// The remedies.
const (
	// ShorterRun shortens the run time of the gang.
	ShorterRun Remedies = 1 << iota
	// HigherPriority raises the priority of the gang.
	HigherPriority
	// SmallerGang lowers the gang's minimum or the requests of its pods.
	SmallerGang
	// FewerObstacles removes an obstacle that prevents the gang from being admitted or from using nodes: a missing
	// volume claim, a minimum or a request that is too large to be admitted, a node selector, a taint, or a queue's
	// capability.
	FewerObstacles
	// OtherQueue moves the gang to another queue.
	OtherQueue
	// CreateQueue creates the gang's queue, and OpenQueue opens it.
	CreateQueue
	OpenQueue

	// lessDemand is for gangs that request too much.
	lessDemand = SmallerGang | FewerObstacles | OtherQueue
)

// qosLimit and assocLimit are Slurm's names for exceeding a limit of a queue or of a namespace, respectively, if the
// resource is not known. noReason is Slurm's word for a job that has no particular reason.
const (
	qosLimit   = "QOSResourceLimit"
	assocLimit = "AssocResourceLimit"
	noReason   = "None"

	// userLimit and accountLimit are Slurm's names for exceeding a limit of a user or of an account, respectively, if the
	// resource is not known.
	userLimit    = "QOSMaxNodePerUserLimit"
	accountLimit = "AssocGrpNodeLimit"
	// accountBudget is Slurm's name for exceeding the budget of an account if the resource is not known.
	accountBudget = "AssocGrpUnknownMinutes"
	// perAccountLimit is Slurm's name for exceeding the limit of a QOS on each account, if the resource is not known.
	perAccountLimit = "MaxNodePerAccount"
)

// SlurmFor returns the name in squeue's REASON column if there is not enough of the specified resource (cpu, memory,
// pods or a device).
func (r Reason) SlurmFor(resource string) string {
	switch {
	case resource == "":
		return r.Slurm
	case r.Slurm == qosLimit:
		return limitOf("QOSGrp", "NodeLimit", resource)
	case r.Slurm == accountLimit:
		return limitOf("AssocGrp", "NodeLimit", resource)
	case r.Slurm == accountBudget:
		return budgetOf(resource)
	case r.Slurm == userLimit:
		return userLimitOf(resource)
	case r.Slurm == perAccountLimit:
		return perAccountLimitOf(resource)
	case r.Slurm == assocLimit && resource == "pods":
		return "AssocMaxJobsLimit"
	case r.Slurm == assocLimit:
		return limitOf("AssocGrp", "", resource)
	}
	return r.Slurm
}

// budgetOf returns Slurm's name for exceeding the budget of an account for a resource.
func budgetOf(resource string) string {
	switch resource {
	case "cpu":
		return "AssocGrpCPUMinutesLimit"
	case "memory":
		return "AssocGrpMemMinutes"
	case "pods":
		return "AssocGrpNodeMinutes"
	default:
		return "AssocGrpGRESMinutes"
	}
}

// userLimitOf returns Slurm's name for exceeding the limit of a user on a resource.
func userLimitOf(resource string) string {
	switch resource {
	case "cpu":
		return "QOSMaxCpuPerUserLimit"
	case "memory":
		return "QOSMaxMemoryPerUser"
	case "pods":
		return userLimit
	default:
		return "QOSMaxGRESPerUser"
	}
}

// perAccountLimitOf returns Slurm's name for exceeding the limit of a QOS on a resource of each account.
func perAccountLimitOf(resource string) string {
	switch resource {
	case "cpu":
		return "MaxCpuPerAccount"
	case "memory":
		return "MaxMemoryPerAccount"
	case "pods":
		return perAccountLimit
	default:
		return "MaxGRESPerAccount"
	}
}

func limitOf(whose, pods, resource string) string {
	switch resource {
	case "cpu":
		return whose + "CpuLimit"
	case "memory":
		return whose + "MemLimit"
	case "pods":
		return whose + pods
	default:
		return whose + "GRES"
	}
}

var byCode = func() map[Code]Reason {
	m := make(map[Code]Reason, len(Table))
	for _, r := range Table {
		m[r.Code] = r
	}
	return m
}()

// Find returns the table row of a code. ok is false if the table does not contain the code, for example if it comes
// from another scheduler.
func Find(c Code) (row Reason, ok bool) {
	row, ok = byCode[c]
	return row, ok
}

// Get is like Find. If the table does not contain the code, Get returns an empty row whose sentence is the code.
func Get(c Code) Reason {
	if r, ok := byCode[c]; ok {
		return r
	}
	return Reason{Code: c, Sentence: string(c)}
}
