package keys

// Keys on jobs that this project defines.
const (
	// JobID is the label of a job and its pods with the job number, which is unique in the cluster. Job numbers
	// increase over time.
	JobID = OurPrefix + "job-id"
	// JobIDWas is the annotation with the previous number of a job. The controller sets it when it assigns the job a
	// new number because two jobs had the same one.
	JobIDWas = OurPrefix + "job-id-was"
	// TaskRequests is the annotation of a job's PodGroup with the resource requests of a pod of each task, as JSON.
	// The scheduler uses it before the pods exist.
	TaskRequests = OurPrefix + "task-requests"
	// TaskPlacements is the annotation of a job's PodGroup with the node selector, node affinity and tolerations of
	// each task that has any of these, as JSON. The scheduler uses it before the pods exist. Without the annotation,
	// the placement rules of a PodGroup are unknown.
	TaskPlacements = OurPrefix + "task-placements"
	// TimeLimit is the annotation of a job's PodGroup with the longest activeDeadlineSeconds of the job's tasks, as a
	// duration. It is missing if a task has none. The scheduler uses it before the pods exist.
	TimeLimit = OurPrefix + "time-limit"
	// JobTitle is the annotation with the name that the user gave a job. Multiple jobs may have the same one.
	JobTitle = OurPrefix + "job-name"
)

// Account is the label with the account for which a job was submitted.
const Account = OurPrefix + "account"

// QOS is the label with the quality of service of a job.
const QOS = OurPrefix + "qos"

// Used is the annotation of a pod with what its containers used so far, as JSON; see package podusage. Process nodes of
// vc-local write it at intervals and when a container has ended. For kubelets, vc-accounting writes it.
const Used = OurPrefix + "used"

// Recorded is the finalizer that keeps a deleted Job until its attempts have been recorded in the accounting database.
const Recorded = OurPrefix + "recorded"

// Slurm is the annotation with the options of the Slurm command that submitted a job, as JSON.
const Slurm = OurPrefix + "slurm"

// CancelledBy is the annotation with the name of the user who cancelled a job. The name is not verified.
const CancelledBy = OurPrefix + "cancelled-by"

// DrainReason is the annotation with the reason why a node is drained.
const DrainReason = OurPrefix + "drain-reason"

// DrainedBy and DrainedAt are the annotations with the user who drained a node with scontrol, and the time in RFC
// 3339 format.
const (
	DrainedBy = OurPrefix + "drained-by"
	DrainedAt = OurPrefix + "drained-at"
)

// Annotations that delay the start of a job. Changing or removing any of them takes effect immediately.
const (
	// Hold holds a job until the annotation is removed. The value, HoldUser or HoldAdmin, is the role of the person
	// who set it.
	Hold = OurPrefix + "hold"
	// Begin is the earliest start time of a job in RFC 3339 format, for example 2026-11-21T22:18:00Z.
	Begin = OurPrefix + "begin"
	// Dependency lists the jobs to wait for in Slurm's notation, for example afterok:42:43,afterany:prepare or
	// after:42+10?singleton.
	Dependency = OurPrefix + "dependency"
	// DependencyNamespaces lists the other namespaces, separated by commas, in which a job may wait for jobs.
	// Admission writes it after it has checked that the user may read jobs there. A ValidatingAdmissionPolicy
	// prevents users from listing other namespaces themselves.
	DependencyNamespaces = OurPrefix + "dependency-namespaces"
	// KillOnInvalidDependency, if set to "true", terminates a job whose dependency can never be met. Otherwise, such
	// a job remains pending.
	KillOnInvalidDependency = OurPrefix + "kill-on-invalid-dependency"
)

// The values of Hold.
const (
	HoldUser  = "user"
	HoldAdmin = "admin"
)

// Annotations that make a job an array.
const (
	// Array lists the elements of the array, for example 0,4,8-12 or 0-15:4.
	Array = OurPrefix + "array"
	// ArrayLimit is the maximum number of active elements. If it is missing or 0, there is no limit. It may be
	// changed at any time.
	ArrayLimit = OurPrefix + "array-limit"
	// ArrayCancelled lists the elements that are to be stopped or not to be started. It may be changed at any time.
	ArrayCancelled = OurPrefix + "array-cancelled"
	// ArrayCancelledBy maps users to the elements that they cancelled, if this was recorded, for example
	// {"mei":"2,7-9"}. The names are not verified.
	ArrayCancelledBy = OurPrefix + "array-cancelled-by"
)

// Keys on the pods of an array.
const (
	// ArrayIndex is the label with the index of the element to which a pod belongs.
	ArrayIndex = OurPrefix + "array-index"
	// ElementID is the annotation with the number of a pod's element, which is the sum of the job number and the
	// element's position.
	ElementID = OurPrefix + "element-id"
)

// Restarts is the annotation of a pod with the number of earlier restarts of its job by policies and users.
const Restarts = OurPrefix + "restarts"

// KeepFinished is the annotation which, if set to "true", prevents succeeded pods of a job from being run again, both
// after a restart of the job and after their deletion.
const KeepFinished = OurPrefix + "keep-finished"

// JobIDsName is the name of the ConfigMap, in the daemon's namespace, that stores which job numbers have been
// assigned.
const JobIDsName = "vc-job-ids"

// Keys that identify the origin of a job.
const (
	// RerunOf is the annotation with the name of the job whose spec a job runs again.
	RerunOf = OurPrefix + "rerun-of"
	// RetryFailed is the annotation of a JobFlow with a time in RFC 3339 format. The steps whose jobs failed or were
	// terminated up to that time are run again.
	RetryFailed = OurPrefix + "retry-failed"
	// CreatedByJobTemplate and CreatedByJobFlow are annotations with a value of the form namespace.name. If the value
	// is short enough, they are also labels.
	CreatedByJobTemplate = "volcano.sh/createdByJobTemplate"
	CreatedByJobFlow     = "volcano.sh/createdByJobFlow"
	// CronJobScheduled is the annotation with the scheduled time for which a job was created, in RFC 3339 format.
	CronJobScheduled = "volcano.sh/cronjob-scheduled-timestamp"
)
