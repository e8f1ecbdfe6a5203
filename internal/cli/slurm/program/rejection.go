package program

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/vc-batch/vc/api/check"
)

// Slurm's messages for jobs that exceed a limit of their partition.
const (
	InvalidTimeLimit = "Requested time limit is invalid (missing or exceeds some limit)"
	InvalidNodeCount = "Node count specification invalid"
)

// FindLimitRejection returns Slurm's message for a job that the API server rejected because of its time limit, its number
// of pods, its account or its QOS, and the server's reason. Both are "" if the server rejected the job for another reason.
func FindLimitRejection(err error) (message, reason string) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return "", ""
	}
	for _, cause := range status.Status().Details.Causes {
		if why, ofAccount := check.CutSlurmMessage(cause.Message); ofAccount != "" {
			return ofAccount, why
		}
		switch field := strings.TrimPrefix(cause.Field, "spec.jobTemplate."); {
		case field == "spec.runningEstimate", strings.HasSuffix(field, ".template.spec.activeDeadlineSeconds"):
			return InvalidTimeLimit, cause.Message
		case field == "spec.tasks":
			return InvalidNodeCount, cause.Message
		}
	}
	return "", ""
}
