package submit

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/usererror"
)

// Slurm has a message of its own for dependencies, so the reason of the API server becomes the hint.
func TestARejectedDependencyIsReportedAsInSlurm(t *testing.T) {
	t.Parallel()
	streams, _, _ := iostreams.TestStreams("", 0)
	c := &program.Call{Factory: cli.NewFactory("vcctl", &streams)}
	annotations := field.NewPath("metadata", "annotations")
	for key, want := range map[string]string{
		keys.Dependency: "Batch job submission failed: Job dependency problem|Forbidden: no such job",
		keys.Begin:      `Batch job submission failed: Job "x" is invalid: metadata.annotations[` + keys.Begin + "]: Forbidden: no such job|correct the fields named in the message; `kubectl explain KIND.FIELD` describes their values",
	} {
		rejected := apierrors.NewInvalid(schema.GroupKind{Kind: "Job"}, "x", field.ErrorList{field.Forbidden(annotations.Key(key), "no such job")})
		got := usererror.FromError(submissionError(c, rejected))
		if text := got.What + "|" + got.Hint; text != want {
			t.Errorf("%s: %s, want %s", key, text, want)
		}
	}
}

// Admission ends the errors about accounts with Slurm's messages.
func TestAJobThatItsAccountDoesNotPermitIsReportedAsInSlurm(t *testing.T) {
	t.Parallel()
	streams, _, _ := iostreams.TestStreams("", 0)
	c := &program.Call{Factory: cli.NewFactory("vcctl", &streams)}
	for at, message := range map[string]string{"metadata": check.SlurmInvalidAccount, "spec": check.SlurmPolicyViolation} {
		rejected := apierrors.NewInvalid(schema.GroupKind{Kind: "Job"}, "x", field.ErrorList{field.Forbidden(field.NewPath(at, "tasks"), "use another account: "+message)})
		got := usererror.FromError(submissionError(c, rejected))
		if got.What != "Batch job submission failed: "+message || got.Hint != "Forbidden: use another account" {
			t.Errorf("%s|%s", got.What, got.Hint)
		}
	}
}

// Slurm's users look for its messages, also if the queue's limits are unknown to the client and the API server checks them.
func TestAJobBeyondALimitOfItsQueueIsReportedAsInSlurm(t *testing.T) {
	t.Parallel()
	streams, _, _ := iostreams.TestStreams("", 0)
	c := &program.Call{Factory: cli.NewFactory("vcctl", &streams)}
	const why = "queue gpu permits at most 1h"
	spec := field.NewPath("spec")
	for _, test := range []struct {
		at   *field.Path
		want string
	}{
		{spec.Child("tasks").Index(1).Child("template", "spec", "activeDeadlineSeconds"), program.InvalidTimeLimit},
		{spec.Child("runningEstimate"), program.InvalidTimeLimit},
		{spec.Child("jobTemplate", "spec", "runningEstimate"), program.InvalidTimeLimit},
		{spec.Child("tasks"), program.InvalidNodeCount},
		{spec.Child("jobTemplate", "spec", "tasks"), program.InvalidNodeCount},
	} {
		rejected := apierrors.NewInvalid(schema.GroupKind{Kind: "Job"}, "x", field.ErrorList{field.Invalid(test.at, 7, why)})
		got := usererror.FromError(submissionError(c, rejected))
		if got.What != "Batch job submission failed: "+test.want || got.Hint != "Invalid value: 7: "+why {
			t.Errorf("%s: %s|%s", test.at, got.What, got.Hint)
		}
	}
}
