package account

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/sacctmgr"
	"github.com/vc-batch/vc/internal/usererror"
)

// userOptions holds the inputs of `vcctl account add-user` and `remove-user`.
type userOptions struct {
	f       *cli.Factory
	out     cli.Output
	dryRun  cli.DryRun
	account string
	users   []string
	// isDefault makes the account the default account of the users.
	isDefault bool
	// describe applies the flags to the entry of a user.
	describe func(*accountv1alpha1.AccountUser) error
}

func newAddUser(f *cli.Factory, run func(context.Context, *userOptions) error) *cobra.Command {
	o, limits := &userOptions{f: f}, &userFlags{}
	var shares int32
	cmd := &cobra.Command{
		Use:   "add-user ACCOUNT USER...",
		Short: "Add users to an account, or change their limits",
		Long: cli.FormatHelp(`
			Add users to an account. They may then submit jobs for it. If a user is in the
			account already, only the fields that you specify with flags are changed. The name
			of a user is the name that the API server knows, for example mei@example.com.

			The first account of a user becomes the user's default account. Jobs that name no
			account get it. --default makes this account the default account.

			A limit of a user replaces the account's limit of each user. The value none removes
			a limit of the user, so that the limit of the account applies again.`),
		Example: f.FormatExamples(`
			# Two users
			vcctl account add-user physics mei omar

			# A user with limits; the account becomes the user's default account
			vcctl account add-user nlp-lab mei --default --max-running-jobs 4 --max-run-time 12h

			# Remove a limit of a user
			vcctl account add-user physics mei --max-running-jobs none`),
		ValidArgsFunction: completeFirst(f.CompleteKind(accountKind(), false), nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.addArguments(f, cmd, args); err != nil {
				return err
			}
			o.describe = func(to *accountv1alpha1.AccountUser) error {
				g := &changedFlags{cmd: cmd}
				g.setShares(shares, &to.Shares)
				to.Limits = limits.apply(g, to.Limits)
				return errors.Join(g.problems...)
			}
			return run(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.isDefault, "default", false, "Make this account the default account of the users")
	cmd.Flags().Int32Var(&shares, "shares", 1, "Weight of each user, relative to the other users of the account and the accounts below it")
	limits.addFlags(cmd, "the user")
	o.addFlags(cmd)
	return cmd
}

func newRemoveUser(f *cli.Factory, run func(context.Context, *userOptions) error) *cobra.Command {
	o := &userOptions{f: f}
	cmd := &cobra.Command{
		Use:   "remove-user ACCOUNT USER...",
		Short: "Remove users from an account",
		Long: cli.FormatHelp(`
			Remove users from an account. They can submit no more jobs for it; jobs that run or
			wait stay. The default account of a user can be removed only if it is the last
			account of the user.`),
		Example: f.FormatExamples(`
			# One user
			vcctl account remove-user physics omar

			# Show the account without the user, and change nothing
			vcctl account remove-user physics omar --dry-run=client -o yaml`),
		ValidArgsFunction: completeFirst(f.CompleteKind(accountKind(), false), f),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.addArguments(f, cmd, args); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.addFlags(cmd)
	return cmd
}

// completionTime is the time after which completion gives up.
const completionTime = time.Second

// completeFirst completes the account, and then its users if f is not nil.
func completeFirst(account cli.Completer, f *cli.Factory) cli.Completer {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return account(cmd, args, prefix)
		case f == nil:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completeUsers(f, args)
	}
}

// completeUsers offers the users of the account that is the first argument.
func completeUsers(f *cli.Factory, args []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	c, err := f.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	tree, err := readTree(ctx, c)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	if account := tree.Account(cli.BareName(args[0], "accounts")); account != nil {
		for i := range account.Spec.Users {
			if name := account.Spec.Users[i].Name; !slices.Contains(args[1:], name) {
				names = append(names, name)
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (o *userOptions) addFlags(cmd *cobra.Command) {
	o.dryRun.AddFlag(cmd)
	o.out.AddFormatFlags(cmd, false)
}

// addArguments reads the account and the users.
func (o *userOptions) addArguments(f *cli.Factory, cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return cli.UsageError(f, cmd, "specify an account and at least one user")
	}
	o.account, o.users = cli.BareName(args[0], "accounts"), withoutDuplicates(args[1:])
	if slices.Contains(args[1:], "") {
		return cli.UsageError(f, cmd, "the name of a user is empty")
	}
	return nil
}

func addUsers(ctx context.Context, o *userOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate(), o.describe(&accountv1alpha1.AccountUser{})); err != nil {
		return err
	}
	e := edit{f: o.f, out: &o.out, dryRun: &o.dryRun, change: func(tree *accountv1alpha1.Tree, e *sacctmgr.Editor) error {
		if err := errors.Join(checkExist(tree, o.account)...); err != nil {
			return err
		}
		for _, user := range o.users {
			if err := o.describe(e.AddUser(o.account, user)); err != nil {
				return err
			}
			if !o.isDefault {
				continue
			}
			if err := e.SetDefaultAccount(user, o.account); err != nil {
				return err
			}
		}
		return nil
	}}
	return e.run(ctx, []string{o.account})
}

func removeUsers(ctx context.Context, o *userOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate()); err != nil {
		return err
	}
	e := edit{f: o.f, out: &o.out, dryRun: &o.dryRun, change: func(tree *accountv1alpha1.Tree, e *sacctmgr.Editor) error {
		problems := checkExist(tree, o.account)
		if len(problems) > 0 {
			return errors.Join(problems...)
		}
		for _, user := range o.users {
			if !e.RemoveUser(o.account, user) {
				problems = append(problems, missingUserError(tree, o.account, user))
			}
		}
		if err := errors.Join(problems...); err != nil {
			return err
		}
		return errors.Join(e.CheckDefaults(defaultCommand)...)
	}}
	return e.run(ctx, nil)
}

// missingUserError returns the error for a user who is not in an account.
func missingUserError(tree *accountv1alpha1.Tree, account, user string) error {
	var names []string
	for _, entry := range tree.Account(account).Spec.Users {
		names = append(names, entry.Name)
	}
	hint := "vcctl account view " + account + " shows its users"
	if near := cli.FindNearest(user, names); near != "" {
		hint = `did you mean "` + near + `"? ` + hint
	}
	return usererror.Errorf(hint, "user %q is not in account %s", user, account)
}
