package keys

// Our keys on jobs.
const (
	// JobID is the label of a job, and of its pods, that is its number: cluster-wide, rising, never the same twice.
	JobID = OurPrefix + "job-id"
	// JobIDWas is the annotation that says what the number of a job was before the controller gave it another, because two jobs had it.
	JobIDWas = OurPrefix + "job-id-was"
	// JobTitle is the annotation of a job with the name that its user gave it, which several jobs may have.
	JobTitle = OurPrefix + "job-name"
)

// What holds a job back before it starts: annotations. Taking one away, or changing it, is heeded at once.
const (
	// Hold keeps the job until the annotation is removed; its value is HoldUser or HoldAdmin, which says who did it.
	Hold = OurPrefix + "hold"
	// Begin is the earliest time to start, as in RFC 3339: 2026-11-21T22:18:00Z.
	Begin = OurPrefix + "begin"
	// Dependency names the jobs to wait for, in Slurm's notation: afterok:42:43,afterany:prepare or after:42+10?singleton.
	Dependency = OurPrefix + "dependency"
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
)

// JobIDsName is the ConfigMap, in the daemon's namespace, in which it stands which numbers of jobs are given.
const JobIDsName = "vc-job-ids"
