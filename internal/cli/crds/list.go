package crds

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/crdcompare"
	"github.com/vc-batch/vc/internal/render"
)

type listOptions struct {
	f   *cli.Factory
	out cli.Value
}

func newList(f *cli.Factory, run func(context.Context, *listOptions) error) *cobra.Command {
	o := &listOptions{f: f}
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "Compare the CRDs in the cluster with vcctl's CRDs",
		Long: cli.FormatHelp(`
			Compare the CRDs in the cluster with the CRDs of this vcctl. STATE is one of:

			  current   the cluster's CRD is the same
			  older     the cluster's CRD has a lower version, or none
			  newer     the cluster's CRD has a higher version
			  changed   the cluster's CRD has the same version, but another content
			  foreign   the cluster's CRD is not vc's, but probably Volcano's
			  missing   the cluster has no such CRD

			VERSION and OWN are the versions of the schemas, from the annotation
			vc-batch.dev/crd-version. STORED lists the API versions in which objects may
			be stored.`),
		Example: f.FormatExamples(`
			# What crds apply would change
			vcctl crds list

			# With the fields in which the schemas differ
			vcctl crds list -o yaml`),
		Args: cli.NoArgs(f),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.out.Validate(); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.out.AddFlag(cmd)
	return cmd
}

func listCRDs(ctx context.Context, o *listOptions) error {
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	pairs, err := readPairs(ctx, c)
	if err != nil {
		return err
	}
	all := make([]crdcompare.Comparison, len(pairs))
	for i, p := range pairs {
		all[i] = p.Comparison
	}
	if done, err := o.out.PrintAnswer(o.f, all); done {
		return err
	}
	style := render.Style{Enabled: o.f.Streams.IsColored()}
	table := render.Table{Header: []string{"NAME", "STATE", "VERSION", "OWN", "SERVED", "STORED"}, MaxWidth: o.f.Streams.Width, Colored: style.Enabled}
	for _, one := range all {
		served := strings.Join(one.Served, ",")
		if one.State != crdcompare.Missing && !one.Established {
			served = "not served"
		}
		table.Rows = append(table.Rows, []string{
			one.Name, paintState(style, one.State), formatVersion(one.Version), formatVersion(one.OwnVersion), render.TextOrNone(served), render.TextOrNone(strings.Join(one.Stored, ",")),
		})
	}
	return table.Fprint(o.f.Streams.Out)
}

func paintState(style render.Style, state crdcompare.State) string {
	switch state {
	case crdcompare.Current:
		return style.Good(string(state))
	case crdcompare.Missing, crdcompare.Foreign:
		return style.Bad(string(state))
	}
	return style.Warn(string(state))
}

// formatVersion returns the text of a schema's version; 0 means that the version is unknown.
func formatVersion(version int) string {
	if version == 0 {
		return render.TextOrNone("")
	}
	return strconv.Itoa(version)
}
