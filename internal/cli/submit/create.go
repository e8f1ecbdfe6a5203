package submit

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// Options are the flags of a `create -f`.
type Options struct {
	Files  cli.Files
	DryRun cli.DryRun
	Fields cli.FieldValidation
	Out    cli.Output
}

// AddFlags adds -f, -R, --dry-run, --validate and -o.
func (o *Options) AddFlags(cmd *cobra.Command) {
	o.Files.AddFlags(cmd)
	o.DryRun.AddFlag(cmd)
	o.Fields.AddFlag(cmd)
	o.Out.AddFormat(cmd, false)
}

// Run reads, checks and sends. Accept may refuse what the files hold; it and say may be nil.
func Run(ctx context.Context, f *cli.Factory, o *Options, accept func([]cli.FileObject) error, say func(cli.FileObject) error) error {
	if err := errors.Join(o.Out.Validate(), o.DryRun.Validate(), o.Fields.Validate()); err != nil {
		return err
	}
	objects, err := Read(f, &o.Files, !o.DryRun.Client())
	if err != nil {
		return err
	}
	if accept != nil {
		if err := accept(objects); err != nil {
			return err
		}
	}
	if err := Check(ctx, f, objects, !o.DryRun.Client(), &o.Fields); err != nil {
		return err
	}
	sender := &Sender{F: f, DryRun: &o.DryRun, Fields: &o.Fields, Out: &o.Out, Say: say}
	_, err = sender.Send(ctx, objects)
	return err
}
