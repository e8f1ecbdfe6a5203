// Package account implements `vcctl account`. Its commands list, create, change and delete accounts, and their users.
//
//	In:   arguments and flags; Account objects; PodGroups, for the use of accounts
//	Out:  tables, trees and sheets; Account objects created, patched and deleted
//
// # Invariants
//
//   - The code of sacctmgr plans and writes the changes: an account is written only if it has not changed in the
//     meantime, or if the same change applies to its new version.
package account

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/resourcecmd"
	"github.com/vc-batch/vc/internal/cli/slurm/accounts"
	"github.com/vc-batch/vc/internal/slurm/sacctmgr"
	"github.com/vc-batch/vc/internal/usererror"
)

// New returns `vcctl account` with all its verbs.
func New(f *cli.Factory) *cobra.Command {
	cmd := cli.NewCommandGroup(f, "account", "List, create and change accounts, their users and limits", `
		Work with accounts (accounts.account.vc-batch.dev). An account is a group of users
		who share resources, for example a project. Accounts form a tree, and have limits
		for all their jobs together and for each user. A queue determines where a job
		runs; an account determines to whom its resources are charged.

		sacctmgr changes the same accounts, with Slurm's words.`, "accounts", "acct")
	cmd.AddCommand(newKind().NewReadCommands(f)...)
	cmd.AddCommand(newTree(f, printTree), newCreate(f, createAccounts), newSet(f, setAccounts), newDelete(f, deleteAccounts),
		newAddUser(f, addUsers), newRemoveUser(f, removeUsers))
	return cmd
}

// accountKind returns the GroupVersionKind of accounts.
func accountKind() schema.GroupVersionKind {
	return accountv1alpha1.GroupVersion.WithKind("Account")
}

func newAccountList() client.ObjectList { return &accountv1alpha1.AccountList{} }

// newKind describes accounts to the verbs list, get and view.
func newKind() *resourcecmd.Kind[*accountv1alpha1.Account] {
	return &resourcecmd.Kind[*accountv1alpha1.Account]{
		Noun: "account", Called: "account", GVK: accountKind(), ClusterScoped: true, Sample: "physics",
		New: func() *accountv1alpha1.Account { return &accountv1alpha1.Account{} }, NewList: newAccountList,
		Columns: listColumns, FreeText: true, Spare: []string{"AGE", "SHARES", "USERS"},
		View: buildSheet,
		ListHelp: resourcecmd.Help{
			Short: "List accounts with their parents, users and limits",
			Long: `
				List the accounts. MAX-JOBS and MAX-RESOURCES limit all running jobs of an
				account and of the accounts below it together. vcctl account view shows the
				limits of users and the current usage, and vcctl account tree the hierarchy.`,
			Examples: `
				# All accounts
				vcctl account list

				# Two accounts, with the queues and namespaces that they permit
				vcctl account list physics nlp-lab -o wide

				# Sorted by the number of users
				vcctl account list --sort-by users`,
		},
		ViewHelp: resourcecmd.Help{
			Short: "Show an account: its limits, its current usage, and its users",
			Long: `
				Show an account: its position in the tree, the limits of all its jobs and of
				the accounts above it with their current usage, the limits that apply to each
				user, and its users with their jobs. A job counts as running from its admission
				to its queue. To see the usage, you need permission to list PodGroups in all
				namespaces.`,
			Examples: `
				# One account
				vcctl account view physics

				# Watch: show the account again whenever it changes
				vcctl account view physics -w`,
		},
	}
}

// readTree reads all accounts.
func readTree(ctx context.Context, c client.Client) (*accountv1alpha1.Tree, error) {
	all, err := cli.ListObjects[*accountv1alpha1.Account](ctx, c, newAccountList(), nil)
	if err != nil {
		return nil, err
	}
	return accountv1alpha1.NewTree(all), nil
}

// notFoundError returns the error for an account that does not exist. It suggests a similar name.
func notFoundError(tree *accountv1alpha1.Tree, name string) error {
	if name == sacctmgr.Root {
		return usererror.Errorf("name another account; vcctl account tree shows them", "root is the top of the tree, which has no users and no limits")
	}
	missing := cli.NotFoundError("account", name, "", tree.Names())
	if missing.Hint == "" {
		missing.Hint = "vcctl account list shows the accounts"
	}
	return missing
}

// checkExist returns an error for each account that does not exist.
func checkExist(tree *accountv1alpha1.Tree, names ...string) []error {
	var errs []error
	for _, name := range names {
		if tree.Account(name) == nil {
			errs = append(errs, notFoundError(tree, name))
		}
	}
	return errs
}

// bareNames returns the names of the accounts in arguments such as account/physics, without duplicates.
func bareNames(args []string) []string {
	var names []string
	seen := map[string]bool{}
	for _, arg := range args {
		if name := cli.BareName(arg, "accounts"); !seen[name] {
			names, seen[name] = append(names, name), true
		}
	}
	return names
}

// edit is a change of accounts by one command.
type edit struct {
	f      *cli.Factory
	out    *cli.Output
	dryRun *cli.DryRun
	// change makes the changes. tree holds the current accounts.
	change func(tree *accountv1alpha1.Tree, e *sacctmgr.Editor) error
	// confirm asks the user to confirm the plan. It may be nil.
	confirm func(ctx context.Context, c client.Client, plan *sacctmgr.Plan) error
}

// run plans the change, asks for confirmation, and writes the accounts. It prints a line for each account that it wrote,
// and for each of the named accounts that did not change.
func (e *edit) run(ctx context.Context, names []string) error {
	c, err := e.f.Client()
	if err != nil {
		return err
	}
	var tree *accountv1alpha1.Tree
	change := &accounts.Change{Client: c, IsDryRun: e.dryRun.IsServer(), Compute: func() (*sacctmgr.Plan, error) {
		if tree, err = readTree(ctx, c); err != nil {
			return nil, err
		}
		return sacctmgr.PlanEdit(tree, func(editor *sacctmgr.Editor) error { return e.change(tree, editor) })
	}}
	plan, err := change.Compute()
	if err != nil {
		return err
	}
	if e.confirm != nil {
		if err := e.confirm(ctx, c, plan); err != nil {
			return err
		}
	}
	if !e.dryRun.IsClient() {
		if err := change.Commit(ctx, plan); err != nil {
			return err
		}
	}
	return e.printResults(tree, plan, names)
}

// printResults prints what was done to each account.
func (e *edit) printResults(tree *accountv1alpha1.Tree, plan *sacctmgr.Plan, names []string) error {
	done := map[sacctmgr.Action]string{sacctmgr.Create: "created", sacctmgr.Update: "updated", sacctmgr.Remove: "deleted"}
	written := map[string]bool{}
	for _, w := range plan.Writes {
		written[w.Account.Name] = true
		if err := cli.PrintSuccess(e.f, e.out, w.Account, done[w.Action]+e.dryRun.MessageSuffix()); err != nil {
			return err
		}
	}
	for _, name := range names {
		if account := tree.Account(name); account != nil && !written[name] {
			if err := cli.PrintSuccess(e.f, e.out, account, "unchanged"+e.dryRun.MessageSuffix()); err != nil {
				return err
			}
		}
	}
	return nil
}

// joinOrDash joins names for a cell of a table.
func joinOrDash(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ",")
}
