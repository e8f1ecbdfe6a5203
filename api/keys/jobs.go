package keys

// Our keys on jobs.
const (
	// JobID is the label of a job, and of its pods, that is its number: cluster-wide, rising, never the same twice.
	JobID = OurPrefix + "job-id"
	// JobIDWas is the annotation that says what the number of a job was before the controller gave it another, because two jobs had it.
	JobIDWas = OurPrefix + "job-id-was"
	// Array is the annotation that makes a job an array: its elements, as 0,4,8-12 or 0-15:4.
	Array = OurPrefix + "array"
)

// JobIDsName is the ConfigMap, in the daemon's namespace, in which it stands which numbers of jobs are given.
const JobIDsName = "vc-job-ids"
