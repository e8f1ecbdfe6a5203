package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Every flag that the user specifies has an effect, or the command rejects it: vcctl never ignores a flag silently.
// The functions in this file run before the command. root.TestEveryFlagIsHeededOrRefused tries every pair of flags.

// Before adds a check that runs before the command and after all checks added earlier.
func Before(cmd *cobra.Command, check func(cmd *cobra.Command, args []string) error) {
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

// Said reports whether the user has set a flag to a value other than its default.
func Said(cmd *cobra.Command, name string) bool {
	flag := cmd.Flags().Lookup(name)
	return flag != nil && flag.Changed && flag.Value.String() != flag.DefValue
}

// firstSaid returns the first of the flags that the user has set, or "".
func firstSaid(cmd *cobra.Command, names []string) string {
	for _, name := range names {
		if Said(cmd, name) {
			return name
		}
	}
	return ""
}

// Apart rejects a flag that is combined with any of the others. why is the explanation in the error, after a colon.
func Apart(cmd *cobra.Command, why, flag string, others ...string) {
	Before(cmd, func(cmd *cobra.Command, _ []string) error {
		if other := firstSaid(cmd, others); other != "" && Said(cmd, flag) {
			return Errorf("remove one of them", "--%s cannot be combined with --%s: %s", flag, other, why)
		}
		return nil
	})
}

// Needs rejects a flag that is used without any of the others. why is the explanation in the error, after a colon.
func Needs(cmd *cobra.Command, why, flag string, others ...string) {
	Before(cmd, func(cmd *cobra.Command, _ []string) error {
		if Said(cmd, flag) && firstSaid(cmd, others) == "" {
			return Errorf(fmt.Sprintf("add --%s, or remove --%s", strings.Join(others, " or --"), flag), "--%s: %s", flag, why)
		}
		return nil
	})
}

// NotNamed rejects a flag that is combined with names as arguments. why is the explanation in the error, after a
// colon.
func NotNamed(cmd *cobra.Command, why, flag string) {
	Before(cmd, func(cmd *cobra.Command, args []string) error {
		if Said(cmd, flag) && len(namesOf(cmd, args)) > 0 {
			return Errorf("remove one of them", "--%s cannot be combined with names: %s", flag, why)
		}
		return nil
	})
}

// namesOf returns the arguments before --.
func namesOf(cmd *cobra.Command, args []string) []string {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		return args[:at]
	}
	return args
}

// Idle warns about flags that have no effect in combination with the flag beside. It does not reject them, because
// users add flags such as --dry-run to existing command lines to see the effect.
func Idle(cmd *cobra.Command, why, beside string, flags ...string) {
	Before(cmd, func(cmd *cobra.Command, _ []string) error {
		idle := slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return !Said(cmd, name) })
		if len(idle) > 0 && Said(cmd, beside) {
			has := "has"
			if len(idle) > 1 {
				has = "have"
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: --%s %s no effect: %s\n", strings.Join(idle, " and --"), has, why)
		}
		return nil
	})
}
