package resourcecmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// viewOptions holds the inputs of view.
type viewOptions[T client.Object] struct {
	f      *cli.Factory
	kind   *Kind[T]
	out    cli.Output
	sel    cli.Selection
	events bool
	watch  bool
	// format is the value of Volcano's --format: yaml or json.
	format string
}

func (k *Kind[T]) newView(f *cli.Factory, run func(context.Context, *viewOptions[T]) error) *cobra.Command {
	o := &viewOptions[T]{f: f, kind: k}
	cmd := &cobra.Command{
		Use:               "view NAME...",
		Aliases:           []string{"describe", "show"},
		Short:             k.ViewHelp.Short,
		Long:              cli.FormatHelp(k.ViewHelp.Long),
		Example:           f.FormatExamples(k.ViewHelp.Examples),
		ValidArgsFunction: k.completeNames(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			if err := o.handleOldFlags(cmd); err != nil {
				return err
			}
			if err := o.sel.RequireSelection(f, cmd, fmt.Sprintf("specify the name of a %s", k.Called)); err != nil {
				return err
			}
			isOneSheet := len(o.sel.Names) == 1 && o.format == "" && !o.out.IsMachineReadable()
			if o.watch && !isOneSheet {
				return cli.UsageError(f, cmd, "--watch requires the name of exactly one %s and the default output format", k.Called)
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.events, "events", true, "Show the latest events")
	o.sel.AddFlags(cmd, k.pluralName())
	if k.ClusterScoped {
		cmd.Flags().Lookup("all").Usage = k.replaceWords("All KINDS")
		cli.AcceptAllNamespaces(cmd)
	} else {
		o.sel.AddAllNamespacesFlag(cmd, k.replaceWords("With --all or -l: select KINDS in all namespaces"))
	}
	cmd.Flags().BoolVarP(&o.watch, "watch", "w", false, k.replaceWords("Show the KIND again whenever it changes"))
	o.out.AddFormatFlags(cmd, false)
	if k.OldWord != "" {
		cmd.Flags().StringVar(&o.format, "format", "", "Old spelling of -o: yaml or json")
		cmd.Flags().Lookup("format").Hidden = true
	}
	return cmd
}

// handleOldFlags implements Volcano's describe, which shows all objects in the namespace if no name is specified and
// prints them in full.
func (o *viewOptions[T]) handleOldFlags(cmd *cobra.Command) error {
	if o.kind.OldWord == "" {
		return nil
	}
	nameless := cmd.CalledAs() == "describe" && len(o.sel.Names) == 0 && !o.sel.SelectsMany()
	switch {
	case o.format != "":
		o.f.WarnDeprecated("--format", "-o")
	case nameless && !o.out.IsMachineReadable():
		o.f.WarnDeprecated("describe without a name", "view --all -o yaml")
	}
	o.sel.All = o.sel.All || nameless
	switch o.format {
	case "yaml", "json":
	case "":
		if (nameless || o.sel.UsesOldName()) && !o.out.IsMachineReadable() {
			o.format = "yaml"
		}
	default:
		return usererror.Errorf("use yaml or json; -o supports more formats, see 'vcctl help formats'", "Unsupported format: %s", o.format)
	}
	return nil
}

func viewObjects[T client.Object](ctx context.Context, o *viewOptions[T]) error {
	if err := o.out.Validate(); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	o.sel.ByOther = true
	objects, problem := o.kind.ReadSelected(ctx, o.f, c, &o.sel)
	switch {
	case o.format != "":
		return errors.Join(problem, o.printOld(objects))
	case o.out.IsMachineReadable():
		return errors.Join(problem, o.printObjects(objects))
	case o.watch && problem == nil:
		return o.followObject(ctx, c, objects[0])
	}
	if o.sel.SelectsMany() && len(objects) == 0 && problem == nil {
		fmt.Fprintln(o.f.Streams.Err, "No resources found.")
	}
	for i, object := range objects {
		sheet, err := o.kind.View(ctx, o.f, c, object, o.events)
		if err != nil {
			return errors.Join(problem, err)
		}
		if i > 0 {
			fmt.Fprintln(o.f.Streams.Out)
		}
		if err := sheet.PrintTo(o.f); err != nil {
			return err
		}
	}
	return problem
}

func (o *viewOptions[T]) printObjects(found []T) error {
	if len(found) == 0 && !o.sel.SelectsMany() {
		return nil
	}
	objects := make([]client.Object, len(found))
	for i := range found {
		objects[i] = found[i]
	}
	return o.out.PrintObjects(o.f, objects, !o.sel.SelectsMany() && len(o.sel.Names) == 1)
}

// printOld prints objects like Volcano's describe, except that they are separate documents that programs can parse.
func (o *viewOptions[T]) printOld(objects []T) error {
	for i, object := range objects {
		object.SetManagedFields(nil)
		if err := cli.SetKind(object); err != nil {
			return err
		}
		plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return err
		}
		var text []byte
		if o.format == "json" {
			text, err = json.MarshalIndent(plain, "", "    ")
			text = append(text, '\n')
		} else {
			text, err = yaml.Marshal(plain)
		}
		if err != nil {
			return err
		}
		if i > 0 && o.format == "yaml" {
			fmt.Fprintln(o.f.Streams.Out, "---")
		}
		if _, err := o.f.Streams.Out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// followObject prints an object again after every change.
func (o *viewOptions[T]) followObject(ctx context.Context, c client.WithWatch, object T) error {
	first := true
	c = o.f.RetryingClient(c)
	err := cli.FollowObject(ctx, c, o.kind.NewList, client.ObjectKeyFromObject(object), object.GetUID(), func(now T) (bool, error) {
		sheet, err := o.kind.View(ctx, o.f, c, now, o.events)
		if err != nil {
			return false, err
		}
		if !first {
			fmt.Fprintln(o.f.Streams.Out)
		}
		first = false
		return o.kind.Ended != nil && o.kind.Ended(now), sheet.PrintTo(o.f)
	})
	if errors.Is(err, cli.ErrGone) {
		return o.f.DeletedError(o.kind.Called, o.kind.Noun, object.GetName())
	}
	return err
}
