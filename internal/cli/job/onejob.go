package job

import (
	"context"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// singleJobName returns the job name from the arguments of a command that takes exactly one job.
func singleJobName(f *cli.Factory, cmd *cobra.Command, args []string) (string, error) {
	switch len(args) {
	case 0:
		return "", cli.UsageError(f, cmd, "the name of a job is missing")
	case 1:
		return cli.BareName(args[0], "jobs"), nil
	}
	return "", cli.UsageError(f, cmd, "expected one job, but got %d", len(args))
}

// readSingleJob connects to the cluster and reads the named job.
func readSingleJob(ctx context.Context, f *cli.Factory, name string) (client.WithWatch, *batchv1alpha1.Job, error) {
	c, err := f.Client()
	if err != nil {
		return nil, nil, err
	}
	namespace, err := f.Namespace()
	if err != nil {
		return nil, nil, err
	}
	job, err := readJobByName(ctx, f, c, namespace, name)
	return c, job, err
}
