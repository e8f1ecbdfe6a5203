package submit

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
