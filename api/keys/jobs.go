package keys

// Keys of the project on jobs.
const (
	// JobID is the label of a job, and of its pods, with the job's number: unique in the cluster and increasing.
	JobID = OurPrefix + "job-id"
	// JobIDWas is the annotation with the previous number of a job to which the controller assigned another one,
	// because two jobs had the same number.
	JobIDWas = OurPrefix + "job-id-was"
	// TaskRequests is the annotation of a job's PodGroup with the requests of a pod of each task, as JSON. The
	// scheduler uses it before the pods exist.
	TaskRequests = OurPrefix + "task-requests"
	// TaskPlacements is the annotation of a job's PodGroup with the node selector, the node affinity and the
	// tolerations of tasks that have any, as JSON. The scheduler uses it before the pods exist. Without it, the
	// placement rules of a PodGroup are unknown.
	TaskPlacements = OurPrefix + "task-placements"
	// JobTitle is the annotation of a job with the name given by its user, which several jobs may share.
	JobTitle = OurPrefix + "job-name"
)

// Account is the label of a job with the account that it was submitted for.
const Account = OurPrefix + "account"

// Slurm is the annotation of a job with the options of the Slurm commands, as JSON.
const Slurm = OurPrefix + "slurm"

// CancelledBy is the annotation of a job with the name of the user who cancelled it. The name is not verified.
const CancelledBy = OurPrefix + "cancelled-by"

// DrainReason is the annotation of a node with the reason why it is drained.
const DrainReason = OurPrefix + "drain-reason"

// DrainedBy and DrainedAt are the annotations of a node with the user who drained it with scontrol, and the time (RFC
// 3339).
const (
	DrainedBy = OurPrefix + "drained-by"
	DrainedAt = OurPrefix + "drained-at"
)

// Annotations that delay the start of a job. Changing or removing one takes effect immediately.
const (
	// Hold holds the job until the annotation is removed. Its value, HoldUser or HoldAdmin, is the role of the person
	// who set it.
	Hold = OurPrefix + "hold"
	// Begin is the earliest start time in RFC 3339 format: 2026-11-21T22:18:00Z.
	Begin = OurPrefix + "begin"
	// Dependency lists the jobs to wait for, in Slurm's notation: afterok:42:43,afterany:prepare or
	// after:42+10?singleton.
	Dependency = OurPrefix + "dependency"
	// DependencyNamespaces lists the other namespaces in which a job may wait for jobs, separated by commas. Admission
	// writes it after it has checked that the user may read jobs there; a ValidatingAdmissionPolicy enforces the same
	// for users.
	DependencyNamespaces = OurPrefix + "dependency-namespaces"
	// KillOnInvalidDependency with the value "true" terminates a job whose dependency can never be met. Otherwise the
	// job stays pending with that reason.
	KillOnInvalidDependency = OurPrefix + "kill-on-invalid-dependency"
)

// The values of Hold.
const (
	HoldUser  = "user"
	HoldAdmin = "admin"
)

// Annotations that make a job an array.
const (
	// Array is the list of its elements, such as 0,4,8-12 or 0-15:4.
	Array = OurPrefix + "array"
	// ArrayLimit is the maximum number of active elements; missing or 0 means no limit. It may be changed at any time.
	ArrayLimit = OurPrefix + "array-limit"
	// ArrayCancelled lists elements that should not run, or should stop. It may be changed at any time.
	ArrayCancelled = OurPrefix + "array-cancelled"
	// ArrayCancelledBy maps users to the elements that they cancelled, as far as recorded: {"mei":"2,7-9"}. The names
	// are not verified.
	ArrayCancelledBy = OurPrefix + "array-cancelled-by"
)

// Keys on the pods of an array.
const (
	// ArrayIndex is the label of a pod with the element that it belongs to.
	ArrayIndex = OurPrefix + "array-index"
	// ElementID is the annotation of a pod with the number of its element: the number of the job plus the position of
	// the element.
	ElementID = OurPrefix + "element-id"
)

// Restarts is the annotation of a pod with the number of earlier restarts of its job, by policies and by users.
const Restarts = OurPrefix + "restarts"

// KeepFinished is the annotation of a job, "true", whose succeeded pods are never run again: neither after a restart of
// the job nor after their deletion.
const KeepFinished = OurPrefix + "keep-finished"

// JobIDsName is the ConfigMap, in the daemon's namespace, that stores which job numbers are allocated.
const JobIDsName = "vc-job-ids"

// Keys that name the origin of a job.
const (
	// RerunOf is the annotation of a job with the name of the job whose spec it runs again.
	RerunOf = OurPrefix + "rerun-of"
	// RetryFailed is the annotation of a JobFlow with a time in RFC 3339 format. Steps whose jobs failed or were
	// terminated at that time or before run again.
	RetryFailed = OurPrefix + "retry-failed"
	// CreatedByJobTemplate and CreatedByJobFlow are annotations, and labels if the value is short enough:
	// namespace.name.
	CreatedByJobTemplate = "volcano.sh/createdByJobTemplate"
	CreatedByJobFlow     = "volcano.sh/createdByJobFlow"
	// CronJobScheduled is the annotation with the scheduled time that the job was created for, in RFC 3339 format.
	CronJobScheduled = "volcano.sh/cronjob-scheduled-timestamp"
)
