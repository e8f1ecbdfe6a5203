package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/vc-batch/vc/internal/cli/flagerrors"
	"github.com/vc-batch/vc/internal/usererror"
)

// RewordFlagError rewords pflag's error about a flag that is unknown, or whose value is missing or invalid.
func RewordFlagError(f *Factory, cmd *cobra.Command, err error) error {
	if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 {
		return UnknownCommand(f, cmd, words[0]) // the flags belong to the unknown subcommand, not to the group
	}
	see := fmt.Sprintf("see '%s --help'", CommandPath(f, cmd))
	e := &usererror.Error{What: err.Error(), Hint: see, Err: err}
	var none *pflag.NotExistError
	if errors.As(err, &none) && none.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
		if near := FindNearest(none.GetSpecifiedName(), names); near != "" {
			e.Hint = fmt.Sprintf("did you mean --%s? %s", near, see)
		}
	}
	if what, example, ok := flagerrors.DescribeError(err); ok {
		e.What = what
		if example != "" {
			e.Hint = example + "; " + see
		}
	}
	return e
}
