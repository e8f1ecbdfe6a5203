// Package reason contains the table of all reasons that the system reports: in status, events, conditions, the command
// line and the dashboard. One row of the table holds everything about a reason that does not depend on numbers;
// internal/explain adds the numbers.
package reason

// Code identifies a reason: one stable CamelCase word that scripts can rely on.
type Code string

// Reason is one row of the table. A row without a required value fails a test.
type Reason struct {
	Code Code
	// Step is the step that the reason blocks.
	Step Step
	// Pod is the class of the reason in the condition of a waiting pod.
	Pod PodClass
	// Never is the limit that makes waiting useless if the whole request exceeds it; most reasons have none.
	Never Never
	// Traits are further properties that programs act on.
	Traits Traits
	// SlurmState is Slurm's short word for the state of a job that failed for this reason; only failures have one.
	SlurmState string
	// Slurm is the name in squeue's REASON column; SlurmFor is more precise if the name depends on the resource.
	Slurm string
	// Sentence describes the situation.
	Sentence string
	// Hint suggests what the user can do.
	Hint string
}

// Has reports whether a reason has a trait.
func (r Reason) Has(trait Traits) bool { return r.Traits&trait != 0 }

// Step is one of the steps that a job passes before it runs, in their order.
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

// PodClass determines the reason of a waiting pod's condition.
type PodClass uint8

// The classes. Autoscalers interpret Unschedulable as a lack of nodes, so only reasons that more nodes could remove
// have this class.
const (
	// Unschedulable is Kubernetes' reason for pods that no node can run.
	Unschedulable PodClass = iota + 1
	// OwnCode is the code of the reason: more nodes would not help.
	OwnCode
	// OwnCodeUnlessGrowing is Unschedulable if an autoscaler adds nodes on request, and the code of the reason otherwise.
	OwnCodeUnlessGrowing
	// NotOfPods is the class of reasons that no pod waits for.
	NotOfPods
)

// Never is the limit that a request has to exceed as a whole so that waiting does not help.
type Never uint8

// The limits.
const (
	// BySize needs no comparison: the reason itself is about the whole request.
	BySize Never = iota + 1
	// ByLimit is any limit.
	ByLimit
	// ByCluster is a limit of the whole cluster.
	ByCluster
)

// Traits is a set of properties of a reason.
type Traits uint16

// The traits.
const (
	// RulesOutNode is a trait of reasons of nodes that the pod does not select or tolerate, or that are not ready.
	RulesOutNode Traits = 1 << iota
	// WaitingHelps is a trait of reasons of nodes that disappear when other pods end.
	WaitingHelps
	// AboutCapacity is a trait of reasons of nodes that the pod could use if they were larger or had fewer pods.
	AboutCapacity
	// StaysWhenFree is a trait of reasons of policies that remain when a node gets free resources.
	StaysWhenFree
	// CodeInMeaning is a trait of reasons that change the meaning of an explanation if all nodes have them.
	CodeInMeaning
	// DetailInMeaning is like CodeInMeaning; the detail, which names a claim, matters too.
	DetailInMeaning
	// MessageInMeaning is a trait of reasons whose message is part of the meaning of an explanation.
	MessageInMeaning
	// Routine is a trait of reasons to spare pods that are not part of the meaning of an explanation.
	Routine
	// OthersHoldQueue is a trait of reasons of gangs that are not admitted because other gangs use or reserve the
	// resources.
	OthersHoldQueue
	// DelaysJob is a trait of reasons that only this project's job controller reports: a hold, a begin time or a
	// dependency.
	DelaysJob
	// CreatesNothing is a trait of reasons of jobs that have no PodGroup yet.
	CreatesNothing
	// Derived is a trait of reasons that programs derive from the state of a job. They are never stored.
	Derived
)

// qosLimit and assocLimit are Slurm's names for a limit of a queue and of a namespace, without the resource. noReason
// is its word for a job without a particular reason.
const (
	qosLimit   = "QOSResourceLimit"
	assocLimit = "AssocResourceLimit"
	noReason   = "None"
)

// SlurmFor returns the name in squeue's REASON column for the resource that is short: cpu, memory, pods or a device.
func (r Reason) SlurmFor(resource string) string {
	switch {
	case resource == "":
		return r.Slurm
	case r.Slurm == qosLimit:
		return limitOf("QOSGrp", "NodeLimit", resource)
	case r.Slurm == assocLimit && resource == "pods":
		return "AssocMaxJobsLimit"
	case r.Slurm == assocLimit:
		return limitOf("AssocGrp", "", resource)
	}
	return r.Slurm
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

// Find returns the row of a code. ok is false for a code that is not in the table, such as one of another scheduler.
func Find(c Code) (row Reason, ok bool) {
	row, ok = byCode[c]
	return row, ok
}

// Get is like Find. For a code that is not in the table it returns an empty row with the code as its sentence.
func Get(c Code) Reason {
	if r, ok := byCode[c]; ok {
		return r
	}
	return Reason{Code: c, Sentence: string(c)}
}
