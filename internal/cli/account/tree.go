package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/queueusage"
	"github.com/vc-batch/vc/internal/render"
)

// treeOptions holds the inputs of `vcctl account tree`.
type treeOptions struct {
	f     *cli.Factory
	out   cli.Output
	names []string
}

func newTree(f *cli.Factory, run func(context.Context, *treeOptions) error) *cobra.Command {
	o := &treeOptions{f: f}
	cmd := &cobra.Command{
		Use:   "tree [NAME...]",
		Short: "Show the tree of accounts with their limits",
		Long: cli.FormatHelp(`
			Show the tree of accounts, or only the subtrees of the specified accounts. MAX-JOBS
			and MAX-RESOURCES limit all running jobs of an account and of the accounts below it
			together. A job starts only if its account and all accounts above it permit it.`),
		Example: f.FormatExamples(`
			# All accounts
			vcctl account tree

			# The subtree of an account
			vcctl account tree physics`),
		ValidArgsFunction: f.CompleteKind(accountKind(), false),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = bareNames(args)
			return run(cmd.Context(), o)
		},
	}
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

// branch is an account in a drawn tree. indent contains the lines before its name.
type branch struct {
	account *accountv1alpha1.Account
	indent  string
}

func printTree(ctx context.Context, o *treeOptions) error {
	if err := o.out.Validate(); err != nil {
		return err
	}
	c, err := o.f.Client()
	if err != nil {
		return err
	}
	tree, err := readTree(ctx, c)
	if err != nil {
		return err
	}
	if err := errors.Join(checkExist(tree, o.names...)...); err != nil {
		return err
	}
	branches := drawTree(tree, o.names, queueusage.BranchCharacters(o.f.Streams.SupportsUnicode()))
	if o.out.IsMachineReadable() {
		objects := make([]client.Object, len(branches))
		for i := range branches {
			objects[i] = branches[i].account
		}
		return o.out.PrintObjects(o.f, objects, false)
	}
	if len(branches) == 0 {
		_, err := fmt.Fprintln(o.f.Streams.Err, "No resources found.")
		return err
	}
	table := render.Table{Header: []string{"NAME", "USERS", "SHARES", "MAX-JOBS", "MAX-RESOURCES", "DESCRIPTION"}, FreeText: true, Colored: o.f.Streams.IsColored(), MaxWidth: o.f.Streams.Width}
	table.SetSpareColumns("SHARES", "USERS")
	for _, b := range branches {
		s := &b.account.Spec
		limits := limitsOf(s)
		table.Rows = append(table.Rows, []string{
			b.indent + b.account.Name, strconv.Itoa(len(s.Users)), sharesText(s.Shares), cmp.Or(countText(limits.MaxRunningJobs), "-"),
			cmp.Or(amountsText(limits.MaxResources), "-"), cmp.Or(s.Description, "-"),
		})
	}
	return table.Fprint(o.f.Streams.Out)
}

// drawTree returns the subtrees of the named accounts, or the whole tree, from top to bottom. An account whose parent does
// not exist is at the top.
func drawTree(tree *accountv1alpha1.Tree, names []string, signs queueusage.Branches) []branch {
	roots := names
	if len(names) == 0 {
		roots = slices.DeleteFunc(tree.Names(), func(name string) bool { return tree.Account(tree.Account(name).Spec.Parent) != nil })
	}
	var drawn []branch
	seen := map[string]bool{}
	var draw func(name, own, below string)
	draw = func(name, own, below string) {
		if seen[name] {
			return
		}
		seen[name] = true
		drawn = append(drawn, branch{tree.Account(name), own})
		children := tree.Children(name)
		for i, child := range children {
			if i == len(children)-1 {
				draw(child, below+signs.Last, below+signs.None)
			} else {
				draw(child, below+signs.Fork, below+signs.Down)
			}
		}
	}
	for _, name := range roots {
		draw(name, "", "")
	}
	for _, name := range tree.Names() { // accounts in a cycle have no top
		if len(names) == 0 {
			draw(name, "", "")
		}
	}
	return drawn
}
