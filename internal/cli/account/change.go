package account

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/slurm/sacctmgr"
	"github.com/vc-batch/vc/internal/usererror"
)

// changeOptions holds the inputs of `vcctl account create` and `set`.
type changeOptions struct {
	f      *cli.Factory
	out    cli.Output
	dryRun cli.DryRun
	names  []string
	// describe applies the flags to an account.
	describe func(*accountv1alpha1.AccountSpec) error
}

func newCreate(f *cli.Factory, run func(context.Context, *changeOptions) error) *cobra.Command {
	o, flags := &changeOptions{f: f}, &spec{}
	cmd := &cobra.Command{
		Use:   "create NAME...",
		Short: "Create accounts",
		Long: cli.FormatHelp(`
			Create accounts. --max-... limits all jobs of an account and of the accounts below
			it together; --user-max-... limits each user of the account, and of the accounts
			below it that have no such limit of their own. vcctl account add-user adds users.
			To create accounts from files, use kubectl apply -f.`),
		Example: f.FormatExamples(`
			# A department, and a project below it
			vcctl account create science --description Science --max-resources cpu=1000,nvidia.com/gpu=64
			vcctl account create laser --parent physics --shares 3 --user-max-running-jobs 10

			# Print the object without creating the account
			vcctl account create teaching --queues short,teaching --dry-run=client -o yaml`),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError(f, cmd, "specify the name of an account")
			}
			o.names = bareNames(args)
			o.describe = func(to *accountv1alpha1.AccountSpec) error {
				_, err := flags.apply(cmd, to)
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	flags.addFlags(f, cmd)
	o.addFlags(cmd)
	return cmd
}

func newSet(f *cli.Factory, run func(context.Context, *changeOptions) error) *cobra.Command {
	o, flags := &changeOptions{f: f}, &spec{}
	cmd := &cobra.Command{
		Use:     "set NAME...",
		Aliases: []string{"update"},
		Short:   "Change the limits, the parent or other fields of accounts",
		Long: cli.FormatHelp(`
			Change accounts. Only the fields that you specify with flags are changed. A list
			replaces the entire current list. The value none removes a limit. Running jobs are
			not stopped when a limit is lowered.

			vcctl account add-user changes the limits of a single user.`),
		Example: f.FormatExamples(`
			# Limit all jobs of an account, and the run time of each job
			vcctl account set physics --max-resources cpu=500,memory=2Ti --user-max-run-time 48h

			# Remove a limit
			vcctl account set physics --max-running-jobs none

			# Permit only these queues
			vcctl account set physics nlp-lab --queues short,teaching`),
		ValidArgsFunction: f.CompleteKind(accountKind(), false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError(f, cmd, "specify the name of an account")
			}
			o.names = bareNames(args)
			changed, err := flags.apply(cmd, &accountv1alpha1.AccountSpec{})
			switch {
			case err != nil:
				return err
			case !changed:
				return cli.UsageError(f, cmd, "nothing to change: specify the fields to change with flags")
			}
			o.describe = func(to *accountv1alpha1.AccountSpec) error {
				_, err := flags.apply(cmd, to)
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	flags.addFlags(f, cmd)
	cmd.Flags().Lookup("shares").DefValue = "0" // the help omits a default that is the zero value
	o.addFlags(cmd)
	return cmd
}

func (o *changeOptions) addFlags(cmd *cobra.Command) {
	o.dryRun.AddFlag(cmd)
	o.out.AddFormatFlags(cmd, false)
}

func createAccounts(ctx context.Context, o *changeOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	var wanted []*accountv1alpha1.Account
	for _, name := range o.names {
		if err := checkName(name); err != nil {
			return err
		}
		account := &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := o.describe(&account.Spec); err != nil {
			return err
		}
		wanted = append(wanted, account)
	}
	e := edit{f: o.f, out: &o.out, dryRun: &o.dryRun, change: func(tree *accountv1alpha1.Tree, e *sacctmgr.Editor) error {
		var problems []error
		for _, account := range wanted {
			there := tree.Account(account.Name)
			switch {
			case account.Name == sacctmgr.Root:
				problems = append(problems, usererror.Errorf("choose another name", "root is the top of the tree, which always exists"))
			case there != nil:
				problems = append(problems, usererror.Errorf("vcctl account set "+account.Name+" changes it", "account %q already exists (created %s ago)",
					account.Name, render.FormatAgeSince(o.f.Now(), there.CreationTimestamp.Time)))
			default:
				e.Create(account.DeepCopy())
			}
		}
		problems = append(problems, checkParent(tree, wanted[0].Spec.Parent, o.names)...)
		return errors.Join(problems...)
	}}
	return e.run(ctx, nil)
}

// maxNameLength is the maximum length of the name of an account, because a label of jobs holds it.
const maxNameLength = 63

// checkName returns an error if the name is not valid for an account.
func checkName(name string) error {
	if len(validation.IsDNS1123Subdomain(name)) == 0 && len(name) <= maxNameLength {
		return nil
	}
	hint := fmt.Sprintf("use at most %d lower-case letters, digits, - and .; the first and the last must be a letter or a digit", maxNameLength)
	other := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	if other != name && len(validation.IsDNS1123Subdomain(other)) == 0 {
		hint = "did you mean " + other + "? " + hint
	}
	return usererror.Errorf(hint, "invalid account name %q", name)
}

// checkParent returns an error if the parent does not exist, and is not one of the new accounts.
func checkParent(tree *accountv1alpha1.Tree, parent string, fresh []string) []error {
	for _, name := range append(fresh, "", sacctmgr.Root) {
		if parent == name {
			return nil
		}
	}
	return checkExist(tree, parent)
}

func setAccounts(ctx context.Context, o *changeOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	e := edit{f: o.f, out: &o.out, dryRun: &o.dryRun, change: func(tree *accountv1alpha1.Tree, e *sacctmgr.Editor) error {
		problems := checkExist(tree, o.names...)
		wanted := &accountv1alpha1.AccountSpec{}
		problems = append(problems, o.describe(wanted))
		problems = append(problems, checkParent(tree, wanted.Parent, nil)...)
		if err := errors.Join(problems...); err != nil {
			return err
		}
		for _, name := range o.names {
			if err := o.describe(&e.Account(name).Spec); err != nil {
				return err
			}
		}
		return nil
	}}
	return e.run(ctx, o.names)
}

// deleteOptions holds the inputs of `vcctl account delete`.
type deleteOptions struct {
	f             *cli.Factory
	out           cli.Output
	dryRun        cli.DryRun
	confirm       cli.Confirm
	ignoreMissing bool
	names         []string
}

func newDelete(f *cli.Factory, run func(context.Context, *deleteOptions) error) *cobra.Command {
	o := &deleteOptions{f: f}
	cmd := &cobra.Command{
		Use:     "delete NAME...",
		Aliases: []string{"rm"},
		Short:   "Delete accounts",
		Long: cli.FormatHelp(`
			Delete accounts. An account that has accounts below it can be deleted only together
			with them: name all of them. If an account has users or running jobs, you are asked
			to confirm the deletion. Its running jobs continue without limits, and its users
			can submit no more jobs for it.`),
		Example: f.FormatExamples(`
			# An account, and the accounts below it
			vcctl account delete physics nlp-lab

			# Without confirmation
			vcctl account delete nlp-lab --yes`),
		ValidArgsFunction: f.CompleteKind(accountKind(), false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.UsageError(f, cmd, "specify the name of an account")
			}
			o.names = bareNames(args)
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.ignoreMissing, "ignore-not-found", false, "Do not fail if an account does not exist")
	o.confirm.AddFlag(cmd)
	o.dryRun.AddFlag(cmd)
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

func deleteAccounts(ctx context.Context, o *deleteOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	e := edit{f: o.f, out: &o.out, dryRun: &o.dryRun, change: func(tree *accountv1alpha1.Tree, e *sacctmgr.Editor) error {
		var problems []error
		for _, name := range o.names {
			if tree.Account(name) != nil {
				e.Remove(name)
			} else if !o.ignoreMissing {
				problems = append(problems, notFoundError(tree, name))
			}
		}
		if err := errors.Join(problems...); err != nil {
			return err
		}
		return errors.Join(e.CheckDefaults(defaultCommand)...)
	}, confirm: o.confirmDeletion}
	return e.run(ctx, nil)
}

// defaultCommand returns the command that makes an account the default account of a user.
func defaultCommand(user, account string) string {
	return "vcctl account add-user " + account + " " + user + " --default"
}

// confirmDeletion asks for confirmation if an account to delete has users or running jobs.
func (o *deleteOptions) confirmDeletion(ctx context.Context, c client.Client, plan *sacctmgr.Plan) error {
	if o.confirm.Yes || o.dryRun.IsDryRun() || plan.IsEmpty {
		return nil
	}
	use, err := readUse(ctx, c)
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	var effects, names []string
	for _, w := range plan.Writes {
		names = append(names, w.Account.Name)
		var parts []string
		if users := len(w.Account.Spec.Users); users > 0 {
			parts = append(parts, textformat.CountWithNoun(int64(users), "user"))
		}
		if running := use.ofAccount(w.Account.Name).running; running > 0 {
			parts = append(parts, textformat.CountWithNoun(int64(running), "running job"))
		}
		if len(parts) > 0 {
			effects = append(effects, fmt.Sprintf("account %s has %s", w.Account.Name, strings.Join(parts, " and ")))
		}
	}
	if len(effects) == 0 {
		return nil
	}
	return o.confirm.AskUser(ctx, o.f, "delete "+strings.Join(names, ", "), effects)
}
