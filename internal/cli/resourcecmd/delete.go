package resourcecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/submit"
)

// deleteOptions holds the inputs of delete.
type deleteOptions[T client.Object] struct {
	f         *cli.Factory
	kind      *Kind[T]
	out       cli.Output
	sel       cli.Selection
	files     cli.Files
	oldFiles  []string
	confirm   cli.Confirm
	dryRun    cli.DryRun
	ignoreNot bool
	// mixed is true if the files also contain objects of other kinds.
	mixed bool
}

func (k *Kind[T]) newDelete(f *cli.Factory, run func(context.Context, *deleteOptions[T]) error) *cobra.Command {
	o := &deleteOptions[T]{f: f, kind: k}
	cmd := &cobra.Command{
		Use:     "delete NAME...",
		Aliases: []string{"rm"},
		Short:   k.replaceWords("Delete KINDS"),
		Long: cli.FormatHelp(k.replaceWords(`
			Delete KINDS. Deleting by label or with --all asks for confirmation. With -f,
			every object in the files is deleted, regardless of its kind; you are asked for
			confirmation if one of them is a namespace, or a queue that still has jobs.`)) + newParagraph(k.DeleteNote),
		Example: f.FormatExamples(k.replaceWords(`
			# By name
			vcctl NOUN delete SAMPLE

			# The objects in a file
			vcctl NOUN delete -f SAMPLE.yaml

			# All KINDS with a label, without confirmation
			vcctl NOUN delete -l team=nlp --yes`)),
		ValidArgsFunction: k.completeNames(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			if len(o.oldFiles) > 0 {
				f.WarnDeprecated("--file", "--filename (-f)")
				o.files.Names = append(o.files.Names, o.oldFiles...)
			}
			if o.files.HasSources() {
				if len(o.sel.Names) > 0 || o.sel.SelectsMany() {
					return cli.UsageError(f, cmd, "files cannot be combined with names or a selector: remove one of them")
				}
				return run(cmd.Context(), o)
			}
			if err := o.sel.RequireSelection(f, cmd, fmt.Sprintf("specify the name of a %s", k.Called)); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.sel.AddFlags(cmd, k.pluralName())
	o.sel.AddAllNamespacesFlag(cmd, k.replaceWords("With --all or -l: select KINDS in all namespaces"))
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.files.AddFlags(f, cmd)
	addOldFiles(cmd, k.OldWord, &o.oldFiles)
	o.out.AddFormatFlags(cmd, false)
	cmd.Flags().BoolVar(&o.ignoreNot, "ignore-not-found", false, k.replaceWords("Do not fail if a KIND does not exist"))
	return cmd
}

func deleteObjects[T client.Object](ctx context.Context, o *deleteOptions[T]) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	if o.files.HasSources() {
		return o.deleteFiles(ctx)
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	objects, problem := o.kind.ReadSelected(ctx, o.f, c, &o.sel)
	if o.ignoreNot {
		problem = cli.IgnoreMissing(problem)
	}
	if o.sel.SelectsMany() && len(objects) == 0 && problem == nil {
		fmt.Fprintln(o.f.Streams.Err, "No resources found.")
	}
	if o.sel.SelectsMany() && len(objects) > 0 && !o.dryRun.IsDryRun() {
		if err := o.confirm.AskUser(ctx, o.f, "delete "+o.kind.CountText(len(objects)), o.kind.DescribeObjects(objects, o.sel.AllNamespaces)); err != nil {
			return err
		}
	}
	problems := []error{problem}
	for _, object := range objects {
		uid := object.GetUID()
		problems = append(problems, o.deleteObject(ctx, c, object, client.Preconditions{UID: &uid}))
	}
	return errors.Join(problems...)
}

func (o *deleteOptions[T]) deleteObject(ctx context.Context, c client.Client, object client.Object, options ...client.DeleteOption) error {
	if !o.dryRun.IsClient() {
		options = append(append(options, client.PropagationPolicy(metav1.DeletePropagationBackground)), o.dryRun.DeleteOptions()...)
		err := c.Delete(ctx, object, options...)
		if apierrors.IsNotFound(err) && o.ignoreNot {
			return nil
		}
		if err != nil {
			return err
		}
	}
	if err := cli.SetKind(object); err != nil {
		return err
	}
	if o.mixed || !o.isOldCall() {
		return cli.PrintSuccess(o.f, &o.out, object, "deleted"+o.dryRun.MessageSuffix())
	}
	return o.kind.printSuccess(o.f, &o.out, object, "Deleted", "deleted", o.dryRun.MessageSuffix())
}

// isOldCall reports whether the command line uses --name or --file, which are flags of Volcano's vcctl.
func (o *deleteOptions[T]) isOldCall() bool { return o.sel.OldName != "" || len(o.oldFiles) > 0 }

// deleteFiles deletes all objects in the files, dependents first.
func (o *deleteOptions[T]) deleteFiles(ctx context.Context) error {
	objects, err := submit.ReadFiles(o.f, &o.files, !o.dryRun.IsClient())
	if err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	if !o.dryRun.IsDryRun() {
		if err := submit.ConfirmDeletion(ctx, o.f, c, &o.confirm, objects); err != nil {
			return err
		}
	}
	o.mixed = slices.ContainsFunc(objects, func(object cli.FileObject) bool {
		return object.Object.GroupVersionKind().GroupKind() != o.kind.GVK.GroupKind()
	})
	var problems []error
	for _, object := range slices.Backward(submit.SortByDependency(objects)) {
		problems = append(problems, cli.AddFileSource(o.deleteObject(ctx, c, object.Object), object))
	}
	return errors.Join(problems...)
}
