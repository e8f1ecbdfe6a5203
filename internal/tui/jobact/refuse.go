package jobact

import (
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/account"
	"github.com/vc-batch/vc/internal/snapshot"
)

func suspended(job *snapshot.Job) bool {
	return job.Phase == batchv1alpha1.Aborted || job.Phase == batchv1alpha1.Aborting
}

func over(job *snapshot.Job) bool {
	return account.Finished(job.Phase) || job.Phase == batchv1alpha1.Terminating
}

func notEnded(job *snapshot.Job) string {
	switch {
	case over(job):
		return "has ended already"
	case suspended(job):
		return "is suspended and none of its pods runs: delete or resume it"
	}
	return ""
}

func notSuspended(job *snapshot.Job) string {
	switch {
	case over(job):
		return "has ended"
	case suspended(job):
		return "is suspended already"
	}
	return ""
}

func canRequeue(job *snapshot.Job) string {
	switch {
	case over(job):
		return "has ended: run it anew"
	case suspended(job):
		return "is suspended: resume it"
	case job.Phase == batchv1alpha1.Restarting:
		return "is being requeued already"
	}
	return ""
}

func isSuspended(job *snapshot.Job) string {
	if !suspended(job) {
		return "is not suspended"
	}
	return ""
}

func held(job *snapshot.Job) bool { return job.Object.Annotations[keys.Hold] != "" }

func canHold(job *snapshot.Job) string {
	switch {
	case held(job):
		return "is held already"
	case job.Phase != batchv1alpha1.Pending:
		return "does not wait: only what has not started can be held"
	}
	return ""
}

func isHeld(job *snapshot.Job) string {
	if !held(job) {
		return "is not held"
	}
	return ""
}
