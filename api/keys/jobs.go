package keys

// Our keys on jobs.
const (
	// JobID is the label of a job, and of its pods, that is its number: cluster-wide, rising, never the same twice.
	JobID = OurPrefix + "job-id"
	// JobIDWas is the annotation that says what the number of a job was before the controller gave it another, because two jobs had it.
	JobIDWas = OurPrefix + "job-id-was"
	// TaskRequests is the annotation of a job's PodGroup with what a pod of each task requests, as JSON: the scheduler judges sizes by it
	// before the pods exist.
	TaskRequests = OurPrefix + "task-requests"
	// TaskPlacements is the annotation of a job's PodGroup with the node selector, the node affinity and the tolerations of the tasks that
	// have any, as JSON: the scheduler judges by it where pods may run before they exist. A PodGroup without it says nothing of places.
	TaskPlacements = OurPrefix + "task-placements"
	// JobTitle is the annotation of a job with the name that its user gave it, which several jobs may have.
	JobTitle = OurPrefix + "job-name"
)

// Account is the label of a job with the account that it was submitted for.
const Account = OurPrefix + "account"

// Slurm is the annotation of a job with what was asked for in Slurm's words, as JSON.
const Slurm = OurPrefix + "slurm"

// CancelledBy is the annotation of a job with the name of who cancelled it: a person's word, not one that was checked.
const CancelledBy = OurPrefix + "cancelled-by"

// DrainReason is the annotation of a node with why it is drained, for those who wonder.
const DrainReason = OurPrefix + "drain-reason"

// DrainedBy and DrainedAt are annotations of a node with who drained it by scontrol, and when (RFC 3339).
const (
	DrainedBy = OurPrefix + "drained-by"
	DrainedAt = OurPrefix + "drained-at"
)

// What holds a job back before it starts: annotations. Taking one away, or changing it, is heeded at once.
const (
	// Hold keeps the job until the annotation is removed; its value is HoldUser or HoldAdmin, which says who did it.
	Hold = OurPrefix + "hold"
	// Begin is the earliest time to start, as in RFC 3339: 2026-11-21T22:18:00Z.
	Begin = OurPrefix + "begin"
	// Dependency names the jobs to wait for, in Slurm's notation: afterok:42:43,afterany:prepare or after:42+10?singleton.
	Dependency = OurPrefix + "dependency"
	// DependencyNamespaces lists the other namespaces in which a job may wait for jobs, joined by commas. Admission writes it, after it has asked whether
	// the user may read jobs there; a ValidatingAdmissionPolicy holds users to the same.
	DependencyNamespaces = OurPrefix + "dependency-namespaces"
	// KillOnInvalidDependency, when it is "true", ends a job whose dependency can never be met; without it the job waits, and says so.
	KillOnInvalidDependency = OurPrefix + "kill-on-invalid-dependency"
)

// The values of Hold.
const (
	HoldUser  = "user"
	HoldAdmin = "admin"
)

// What makes a job an array: annotations.
const (
	// Array is the list of its elements, as 0,4,8-12 or 0-15:4.
	Array = OurPrefix + "array"
	// ArrayLimit is how many elements may run at once; none or 0: as many as there is room for. It may be changed at any time.
	ArrayLimit = OurPrefix + "array-limit"
	// ArrayCancelled lists elements that are not to run, or not to run on. It may be changed at any time.
	ArrayCancelled = OurPrefix + "array-cancelled"
	// ArrayCancelledBy says who cancelled which of them, as far as that was noted: {"mei":"2,7-9"}. It is a person's word, not one that was checked.
	ArrayCancelledBy = OurPrefix + "array-cancelled-by"
)

// On the pods of an array.
const (
	// ArrayIndex is the label of a pod with the element that it belongs to.
	ArrayIndex = OurPrefix + "array-index"
	// ElementID is the annotation of a pod with the number of its element: that of the job and as many more as elements come before.
	ElementID = OurPrefix + "element-id"
)

// Restarts is the annotation of a pod that says how often its job was restarted before, by policies and by people.
const Restarts = OurPrefix + "restarts"

// KeepFinished is the annotation of a job, "true", whose pods that have succeeded are never run again: not after a restart of the job, and not when they
// are gone.
const KeepFinished = OurPrefix + "keep-finished"

// JobIDsName is the ConfigMap, in the daemon's namespace, in which it stands which numbers of jobs are given.
const JobIDsName = "vc-job-ids"

// What made a job.
const (
	// RerunOf is the annotation of a job with the name of the job whose spec it runs again.
	RerunOf = OurPrefix + "rerun-of"
	// RetryFailed is the annotation of a JobFlow with a time, as in RFC 3339: steps whose jobs failed or were terminated then or before run again.
	RetryFailed = OurPrefix + "retry-failed"
	// CreatedByJobTemplate and CreatedByJobFlow are labels, where they are short enough, and annotations: namespace.name.
	CreatedByJobTemplate = "volcano.sh/createdByJobTemplate"
	CreatedByJobFlow     = "volcano.sh/createdByJobFlow"
	// CronJobScheduled is the annotation with the time of the schedule that the job was made for, as in RFC 3339.
	CronJobScheduled = "volcano.sh/cronjob-scheduled-timestamp"
)
