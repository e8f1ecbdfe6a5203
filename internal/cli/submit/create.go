package submit

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
)

// Options holds the flags of a `create -f` command.
type Options struct {
	Files  cli.Files
	DryRun cli.DryRun
	Fields cli.FieldValidation
	Out    cli.Output
}

// AddFlags adds -f, -R, -k, --dry-run, --validate and -o.
func (o *Options) AddFlags(f *cli.Factory, cmd *cobra.Command) {
	o.Files.AddFlags(f, cmd)
	o.DryRun.AddFlag(cmd)
	o.Fields.AddFlag(cmd)
	o.Out.AddFormatFlags(cmd, false)
}

// Run reads, validates and sends the objects, and returns the created ones. accept can reject the contents of the
// files, and say prints a line for each object; both may be nil.
func Run(ctx context.Context, f *cli.Factory, o *Options, accept func([]cli.FileObject) error, say func(cli.FileObject) error) ([]cli.FileObject, error) {
	if err := errors.Join(o.Out.Validate(), o.DryRun.Validate(), o.Fields.Validate()); err != nil {
		return nil, err
	}
	objects, err := ReadFiles(f, &o.Files, !o.DryRun.IsClient())
	if err != nil {
		return nil, err
	}
	if accept != nil {
		if err := accept(objects); err != nil {
			return nil, err
		}
	}
	if err := CheckObjects(ctx, f, objects, &o.DryRun, &o.Fields); err != nil {
		return nil, err
	}
	sender := &Sender{F: f, DryRun: &o.DryRun, Fields: &o.Fields, Out: &o.Out, Say: say}
	return sender.SendObjects(ctx, objects)
}
