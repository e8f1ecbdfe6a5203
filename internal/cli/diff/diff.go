// Package diff implements `vcctl diff`, which shows what `kubectl apply` would change in the cluster for given files.
// It does not change anything itself.
//
//	In:   objects from files; the live objects; the server's results of a dry run
//	Out:  a unified diff, or two directories for an external diff program; exit code 0, 1 or above
package diff

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// externalVariable is the environment variable that contains the external diff program, as for kubectl diff.
const externalVariable = "KUBECTL_EXTERNAL_DIFF"

// options holds the inputs of `vcctl diff`.
type options struct {
	f      *cli.Factory
	files  cli.Files
	fields cli.FieldValidation
}

// New returns the command.
func New(f *cli.Factory) *cobra.Command { return newDiff(f, compareFiles) }

func newDiff(f *cli.Factory, run func(context.Context, *options) error) *cobra.Command {
	o := &options{f: f}
	cmd := &cobra.Command{
		Use:   "diff -f FILE...",
		Short: "Show the changes that applying files would make",
		Long: cli.FormatHelp(`
			Show the changes that 'kubectl apply' would make with the files: the differences
			between each live object and the applied object, including default values and
			changes by admission. The cluster is not changed. Objects of any kind are
			compared; an object that does not exist is shown as new. Fields that the
			server manages (status, managed fields, uid, versions) and the values of secrets
			are omitted.

			The exit code is 0 if no object differs, 1 if an object differs, and 2 or more
			after an error. To compare with another program, for example meld, set the variable
			KUBECTL_EXTERNAL_DIFF to a program that compares two directories.`),
		Example: f.FormatExamples(`
			# Show the changes
			vcctl diff -f job.yaml

			# A kustomization
			vcctl diff -k overlays/prod/

			# Apply the files only if an object differs
			vcctl diff -f queues.yaml > /dev/null || kubectl apply -f queues.yaml
`),
		Args:        cli.NoFileArgs(f),
		Annotations: map[string]string{cli.ErrorsExitWith: cli.ErrorsExitWithTwo},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !o.files.HasSources() {
				return cli.UsageError(f, cmd, "nothing to compare: specify a file with -f, or a kustomization with -k")
			}
			return run(cmd.Context(), o)
		},
	}
	o.files.AddFlags(f, cmd)
	o.fields.AddFlag(cmd)
	cli.RequireAny(cmd, "the flag applies only to fields of objects in files", "validate", "filename", "kustomize")
	return cmd
}

func compareFiles(ctx context.Context, o *options) error {
	if err := o.fields.Validate(); err != nil {
		return err
	}
	objects, err := o.files.ReadObjects(o.f)
	if err != nil {
		return err
	}
	if err := cli.SetNamespaces(o.f, objects, true); err != nil {
		return err
	}
	var problems []error
	for _, object := range objects {
		problems = append(problems, o.fields.CheckFields(o.f, object))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	pairs, problem := o.compareObjects(ctx, objects)
	if len(pairs) == 0 {
		return problem
	}
	show := o.showUnified
	if program := o.f.Streams.Env(externalVariable); program != "" {
		show = func(pairs []pair) (bool, error) { return o.runExternal(ctx, program, pairs) }
	}
	differs, err := show(pairs)
	if err := errors.Join(problem, err); err != nil {
		return err
	}
	if differs {
		return cli.ExitStatus(cli.ExitDiffers)
	}
	return nil
}
