package resourcecmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/submit"
	"github.com/vc-batch/vc/internal/usererror"
)

// createOptions holds the inputs of create.
type createOptions[T client.Object] struct {
	f      *cli.Factory
	kind   *Kind[T]
	submit submit.Options
	wait   cli.Wait
	// mixed is true if the files also contain objects of other kinds. Volcano's vcctl rejects such files, so its
	// output format need not be kept for them.
	mixed bool
}

func (k *Kind[T]) newCreate(f *cli.Factory, run func(context.Context, *createOptions[T]) error) *cobra.Command {
	o := &createOptions[T]{f: f, kind: k}
	var oldFiles []string
	cmd := &cobra.Command{
		Use:   "create -f FILE...",
		Short: k.replaceWords("Create KINDS from files"),
		Long: cli.FormatHelp(k.replaceWords(`
			Create KINDS from files, directories, URLs or standard input, in YAML or JSON.
			Other objects in the files are also created. All objects are checked against the
			server's rules before the first object is sent. If one of them already exists,
			nothing is created.`)) + newParagraph(k.CreateNote),
		Example: f.FormatExamples(k.replaceWords(`
			# From a file
			vcctl NOUN create -f SAMPLE.yaml

			# From a pipe; let the server check the object without storing it
			cat SAMPLE.yaml | vcctl NOUN create -f - --dry-run=server`)),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(oldFiles) > 0 {
				f.WarnDeprecated("--file", "--filename (-f)")
				o.submit.Files.Names = append(o.submit.Files.Names, oldFiles...)
			}
			switch {
			case len(args) > 0:
				return usererror.Errorf(fmt.Sprintf("%s -f FILE", cli.CommandPath(f, cmd)), "%q: specify the name of the %s in the file, not as an argument", args[0], k.Called)
			case !o.submit.Files.HasSources():
				return usererror.Errorf(fmt.Sprintf("%s -f FILE; - means standard input", cli.CommandPath(f, cmd)), "specify a file with the %s", k.Called)
			}
			return run(cmd.Context(), o)
		},
	}
	o.submit.AddFlags(f, cmd)
	if k.Await != nil {
		o.wait.AddFlags(cmd, false, k.AwaitHelp)
	}
	addOldFiles(cmd, k.OldWord, &oldFiles)
	return cmd
}

// newParagraph returns text after a blank line, or "" for an empty text.
func newParagraph(text string) string {
	if text == "" {
		return ""
	}
	return "\n\n" + cli.FormatHelp(text)
}

// addOldFiles adds Volcano's --file if Volcano's vcctl supports the kind.
func addOldFiles(cmd *cobra.Command, oldWord string, files *[]string) {
	if oldWord == "" {
		return
	}
	cmd.Flags().StringSliceVar(files, "file", nil, "Old spelling of --filename")
	cmd.Flags().Lookup("file").Hidden = true
}

func createObjects[T client.Object](ctx context.Context, o *createOptions[T]) error {
	var say func(cli.FileObject) error
	if o.kind.OldWord != "" {
		say = func(object cli.FileObject) error {
			if o.mixed {
				return cli.PrintSuccess(o.f, nil, object.Object, "created"+o.submit.DryRun.MessageSuffix())
			}
			return o.kind.printSuccess(o.f, nil, object.Object, "Created", "created", o.submit.DryRun.MessageSuffix())
		}
	}
	created, err := submit.Run(ctx, o.f, &o.submit, o.checkKind, say)
	if err != nil || o.submit.DryRun.IsDryRun() || !o.wait.Wait {
		return err
	}
	var ours []T
	for _, object := range created {
		if object.Object.GroupVersionKind().GroupKind() != o.kind.GVK.GroupKind() {
			continue
		}
		one := o.kind.New()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object.Object, one); err != nil {
			return err
		}
		ours = append(ours, one)
	}
	return o.kind.Await(ctx, o.f, &o.wait, ours)
}

// checkKind rejects files that contain no object of the kind.
func (o *createOptions[T]) checkKind(objects []cli.FileObject) error {
	held := map[string]int{}
	ours := 0
	for _, object := range objects {
		gvk := object.Object.GroupVersionKind()
		if gvk.GroupKind() == o.kind.GVK.GroupKind() {
			ours++
			continue
		}
		held[gvk.Kind+" ("+object.Object.GetAPIVersion()+")"]++
	}
	if o.mixed = len(held) > 0; ours > 0 {
		return nil
	}
	var kinds []string
	for name := range held {
		kinds = append(kinds, name)
	}
	slices.Sort(kinds)
	return usererror.Errorf(fmt.Sprintf("a %s has apiVersion: %s and kind: %s; to create objects of other kinds, use `vcctl job run -f`", o.kind.Called, o.kind.GVK.GroupVersion(), o.kind.GVK.Kind),
		"no %s in %s: it contains only %s", o.kind.Called, o.submit.Files.DescribeSources(), strings.Join(kinds, ", "))
}

// printSuccess prints the success line for an object. For the kinds that Volcano's vcctl creates and deletes, it prints
// Volcano's message, because the command line does not show for which program it was written.
func (k *Kind[T]) printSuccess(f *cli.Factory, out *cli.Output, object client.Object, old, done, suffix string) error {
	isMachineReadable := out != nil && out.IsMachineReadable()
	if k.OldWord == "" || isMachineReadable || object.GetObjectKind().GroupVersionKind().Kind != k.GVK.Kind {
		return cli.PrintSuccess(f, out, object, done+suffix)
	}
	_, err := fmt.Fprintf(f.Streams.Out, "%s %s: %s/%s%s\n", old, k.OldWord, object.GetNamespace(), object.GetName(), suffix)
	return err
}
