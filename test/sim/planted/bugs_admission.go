package main

// admissionBugs lists the bugs in the webhooks, their configurations, and the numbers of jobs.
var admissionBugs = []bug{
	{
		name: "job-numbers-without-version", kind: "stale read", file: "internal/jobid/configmap.go",
		old: "Name: keys.JobIDsName, ResourceVersion: old.Version},",
		new: "Name: keys.JobIDsName},",
	},
	{
		name: "job-numbers-off-by-one", kind: "accounting", file: "internal/jobid/allocator.go",
		old: "return a.end - a.next + 1 }",
		new: "return a.end - a.next + 2 }",
	},
	{
		name: "updated-jobs-are-not-checked", kind: "rule", file: "internal/admission/install.go",
		old: "job.path, job.operations = pathValidateJob, createAndUpdate()",
		new: "job.path, job.operations = pathValidateJob, createOnly()",
	},
	{
		name: "changed-webhooks-are-not-corrected", kind: "convergence", file: "internal/admission/install.go",
		old: "case err != nil, correct(have):",
		new: "case err != nil, correct(have) || true:",
	},
}
