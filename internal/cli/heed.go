package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// A flag that is given has an effect, or the command is refused: nothing that somebody typed is passed over in
// silence. The rules here are run before the command; root.TestEveryFlagIsHeededOrRefused tries every pair of flags.

// Before adds a check that is made before the command runs, after those that were added earlier.
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

// Said says whether a flag was given, and not as what it is anyway.
func Said(cmd *cobra.Command, name string) bool {
	flag := cmd.Flags().Lookup(name)
	return flag != nil && flag.Changed && flag.Value.String() != flag.DefValue
}

// firstSaid is the first of the flags that was given; "" when none was.
func firstSaid(cmd *cobra.Command, names []string) string {
	for _, name := range names {
		if Said(cmd, name) {
			return name
		}
	}
	return ""
}

// Apart refuses a flag together with any of the others; why follows a colon.
func Apart(cmd *cobra.Command, why, flag string, others ...string) {
	Before(cmd, func(cmd *cobra.Command, _ []string) error {
		if other := firstSaid(cmd, others); other != "" && Said(cmd, flag) {
			return Errorf("remove one of them", "--%s together with --%s: %s", flag, other, why)
		}
		return nil
	})
}

// Needs refuses a flag without any of those that it is about; why follows a colon.
func Needs(cmd *cobra.Command, why, flag string, others ...string) {
	Before(cmd, func(cmd *cobra.Command, _ []string) error {
		if Said(cmd, flag) && firstSaid(cmd, others) == "" {
			return Errorf(fmt.Sprintf("add --%s, or remove --%s", strings.Join(others, " or --"), flag), "--%s: %s", flag, why)
		}
		return nil
	})
}

// NotNamed refuses a flag together with names as arguments; why follows a colon.
func NotNamed(cmd *cobra.Command, why, flag string) {
	Before(cmd, func(cmd *cobra.Command, args []string) error {
		if Said(cmd, flag) && len(namesOf(cmd, args)) > 0 {
			return Errorf("remove one of them", "--%s together with names: %s", flag, why)
		}
		return nil
	})
}

// namesOf are the arguments before --.
func namesOf(cmd *cobra.Command, args []string) []string {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		return args[:at]
	}
	return args
}

// Idle warns of flags that have no effect beside another, which somebody adds to a command line to see what that would do.
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
