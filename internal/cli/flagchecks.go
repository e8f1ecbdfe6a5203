package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vc-batch/vc/internal/usererror"
)

// Every flag that the user specifies has an effect, or the command rejects it: vcctl never ignores a flag silently.
// The functions in this file run before the command. root.TestEveryFlagIsHeededOrRefused tries every pair of flags.

// AddCheck adds a check that runs before the command and after all checks added earlier.
func AddCheck(cmd *cobra.Command, check func(cmd *cobra.Command, args []string) error) {
	earlier := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if earlier != nil {
			if err := earlier(cmd, args); err != nil {
				return err
			}
		}
		return check(cmd, args)
	}
}

// IsFlagSet reports whether the user has set a flag to a value other than its default.
func IsFlagSet(cmd *cobra.Command, name string) bool {
	flag := cmd.Flags().Lookup(name)
	return flag != nil && flag.Changed && flag.Value.String() != flag.DefValue
}

// firstSetFlag returns the first of the flags that the user has set, or "".
func firstSetFlag(cmd *cobra.Command, names []string) string {
	for _, name := range names {
		if IsFlagSet(cmd, name) {
			return name
		}
	}
	return ""
}

// RejectTogether rejects a flag that is combined with any of the others. why is the explanation in the error, after a
// colon.
func RejectTogether(cmd *cobra.Command, why, flag string, others ...string) {
	AddCheck(cmd, func(cmd *cobra.Command, _ []string) error {
		if other := firstSetFlag(cmd, others); other != "" && IsFlagSet(cmd, flag) {
			return usererror.Errorf("remove one of them", "--%s cannot be combined with --%s: %s", flag, other, why)
		}
		return nil
	})
}

// RequireAny rejects a flag that is used without any of the others. why is the explanation in the error, after a colon.
func RequireAny(cmd *cobra.Command, why, flag string, others ...string) {
	AddCheck(cmd, func(cmd *cobra.Command, _ []string) error {
		if IsFlagSet(cmd, flag) && firstSetFlag(cmd, others) == "" {
			return usererror.Errorf(fmt.Sprintf("add --%s, or remove --%s", strings.Join(others, " or --"), flag), "--%s: %s", flag, why)
		}
		return nil
	})
}

// RejectWithNames rejects a flag that is combined with names as arguments. why is the explanation in the error, after a
// colon.
func RejectWithNames(cmd *cobra.Command, why, flag string) {
	AddCheck(cmd, func(cmd *cobra.Command, args []string) error {
		if IsFlagSet(cmd, flag) && len(argumentsBeforeDash(cmd, args)) > 0 {
			return usererror.Errorf("remove one of them", "--%s cannot be combined with names: %s", flag, why)
		}
		return nil
	})
}

// argumentsBeforeDash returns the arguments before --.
func argumentsBeforeDash(cmd *cobra.Command, args []string) []string {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		return args[:at]
	}
	return args
}

// WarnIneffective warns about flags that have no effect in combination with the flag beside. It does not reject them,
// because users add flags such as --dry-run to existing command lines to see the effect.
func WarnIneffective(cmd *cobra.Command, why, beside string, flags ...string) {
	AddCheck(cmd, func(cmd *cobra.Command, _ []string) error {
		idle := slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return !IsFlagSet(cmd, name) })
		if len(idle) > 0 && IsFlagSet(cmd, beside) {
			has := "has"
			if len(idle) > 1 {
				has = "have"
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: --%s %s no effect: %s\n", strings.Join(idle, " and --"), has, why)
		}
		return nil
	})
}
