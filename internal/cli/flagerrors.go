package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FlagError words what pflag says about a flag that does not exist, that lacks its
// value, or whose value cannot be read.
func FlagError(f *Factory, cmd *cobra.Command, err error) error {
	see := fmt.Sprintf("see '%s --help'", Path(f, cmd))
	e := &Error{What: err.Error(), Hint: see, Err: err}
	var none *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &none) && none.GetSpecifiedShortnames() == "":
		var names []string
		cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
		if near := Nearest(none.GetSpecifiedName(), names); near != "" {
			e.Hint = fmt.Sprintf("did you mean --%s? %s", near, see)
		}
	case errors.As(err, &missing):
		flag := missing.GetFlag()
		e.What = flagName(flag) + ": its value is missing"
		e.Hint = orSee(exampleOf(flag), see)
	case errors.As(err, &wrong):
		flag := wrong.GetFlag()
		e.What = fmt.Sprintf("%s: %q %s", flagName(flag), wrong.GetValue(), notReadable(flag, wrong.Unwrap()))
		e.Hint = orSee(exampleOf(flag), see)
	}
	return e
}

func flagName(flag *pflag.Flag) string {
	name := "--" + flag.Name
	if flag.Shorthand != "" {
		name += " (-" + flag.Shorthand + ")"
	}
	return name
}

// notReadable says what a value is not.
func notReadable(flag *pflag.Flag, cause error) string {
	if errors.Is(cause, strconv.ErrRange) {
		return "is too large a number"
	}
	var number *strconv.NumError
	switch flag.Value.Type() {
	case "int", "int32", "int64":
		return "is not a whole number"
	case "bool":
		return "is neither true nor false"
	case "duration":
		return "is not a length of time"
	case "stringToString":
		return "is not KEY=VALUE"
	}
	if errors.As(cause, &number) {
		return "is not a number"
	}
	return "cannot be read: " + cause.Error()
}

// exampleOf is how the flag may be written; "" when that cannot be known.
func exampleOf(flag *pflag.Flag) string {
	value := ""
	switch flag.Value.Type() {
	case "int", "int32", "int64":
		value = "4"
	case "bool":
		value = "true"
	case "duration":
		value = "90m or 24h; days are not read"
	default:
		return ""
	}
	return fmt.Sprintf("for example --%s=%s", flag.Name, value)
}

func orSee(example, see string) string { return strings.TrimPrefix(example+"; "+see, "; ") }
