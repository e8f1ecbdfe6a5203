package resourcecmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// listOptions holds the inputs of list and get.
type listOptions[T client.Object] struct {
	f      *cli.Factory
	kind   *Kind[T]
	out    cli.Output
	sel    cli.Selection
	compat bool
	filter func(ctx context.Context, named bool) (Narrowed[T], error)
}

func (k *Kind[T]) newList(f *cli.Factory, run func(context.Context, *listOptions[T]) error) *cobra.Command {
	o := &listOptions[T]{f: f, kind: k}
	cmd := &cobra.Command{
		Use:               "list [NAME...]",
		Aliases:           []string{"ls"},
		Short:             k.ListHelp.Short,
		Long:              cli.FormatHelp(k.ListHelp.Long),
		Example:           f.FormatExamples(k.ListHelp.Examples),
		ValidArgsFunction: k.completeNames(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			return run(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	if k.Filter != nil {
		o.filter = k.Filter(f, cmd)
	}
	return cmd
}

func (k *Kind[T]) newGet(f *cli.Factory, run func(context.Context, *listOptions[T]) error) *cobra.Command {
	o := &listOptions[T]{f: f, kind: k}
	cmd := &cobra.Command{
		Use:   "get NAME...",
		Short: k.replaceWords("Show one or more KINDS"),
		Long: cli.FormatHelp(k.replaceWords(`
			Show KINDS in the same table as list, or as objects with -o. The command fails
			if one of them does not exist. Names are required unless you use -l or -A.`)),
		Example: f.FormatExamples(k.replaceWords(`
			# One KIND
			vcctl NOUN get SAMPLE

			# Watch one KIND: a row is added after each change
			vcctl NOUN get SAMPLE -w

			# One KIND as YAML
			vcctl NOUN get SAMPLE -o yaml`)),
		ValidArgsFunction: k.completeNames(f),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sel.AddArguments(f, args)
			if len(o.sel.Names) == 0 && o.sel.Selector == "" && !o.sel.AllNamespaces {
				return usererror.Errorf(fmt.Sprintf("%s NAME; `vcctl %s list` shows the names", cli.CommandPath(f, cmd), k.Noun), "specify the name of a %s", k.Called)
			}
			return run(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *listOptions[T]) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.sel.Selector, "selector", "l", "", "Label selector, for example team=nlp,stage!=test")
	if o.kind.ClusterScoped {
		cli.AcceptAllNamespaces(cmd)
	} else {
		o.sel.AddAllNamespacesFlag(cmd, o.kind.replaceWords("List the KINDS in all namespaces"))
	}
	o.sel.AddOldNameFlag(cmd, o.kind.pluralName())
	if o.kind.Compat != nil {
		cmd.Flags().BoolVar(&o.compat, "compat", false, "Print the table in the format of Volcano's vcctl")
	}
	o.out.AddListFlags(cmd)
	cli.CompleteColumns(cmd, func() []cli.Column[T] { return o.kind.Columns(o.f) })
}

func listObjects[T client.Object](ctx context.Context, o *listOptions[T]) error {
	namespace, err := o.f.Namespace()
	if err != nil {
		return err
	}
	if o.sel.AllNamespaces || o.kind.ClusterScoped {
		namespace = ""
	}
	var narrowed Narrowed[T]
	if o.filter != nil {
		if narrowed, err = o.filter(ctx, len(o.sel.Names) > 0); err != nil {
			return err
		}
	}
	if _, err := cli.ParseSelector(o.sel.Selector); err != nil {
		return err
	}
	labels, err := cli.ParseSelector(strings.Trim(narrowed.Labels+","+o.sel.Selector, ","))
	if err != nil {
		return err
	}
	names, err := o.kind.resolveOtherNames(ctx, o.f, namespace, o.sel.Names)
	if err != nil {
		return err
	}
	l := &cli.List[T]{
		Kind: o.kind.pluralName(), New: o.kind.NewList, Columns: o.kind.Columns(o.f), FreeText: o.kind.FreeText, Spare: o.kind.Spare,
		Namespace: namespace, AllNamespaces: o.sel.AllNamespaces,
		Names: names, Selector: labels, Fields: narrowed.Fields, Keep: narrowed.Keep, Single: len(names) == 1,
		Suggest: o.f.SuggestNames(o.kind.GVK, !o.kind.ClusterScoped),
	}
	asVolcano := o.compat || o.sel.UsesOldName() || o.f.UsesVolcanoTables()
	if asVolcano && o.kind.Compat != nil && o.out.IsPlainTable() {
		l.Plain = func(items []T) error { return o.kind.Compat(o.f.Streams.Out, o.f, items, o.sel.AllNamespaces) }
	}
	return l.Run(ctx, o.f, &o.out)
}
