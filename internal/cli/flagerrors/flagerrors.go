// Package flagerrors rewords pflag's errors about flags whose value is missing or invalid.
package flagerrors

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// DescribeError describes the problem with a flag, and returns an example of the flag if there is one. ok is false if
// err is a different error.
func DescribeError(err error) (what, example string, ok bool) {
	var missing *pflag.ValueRequiredError
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing):
		flag := missing.GetFlag()
		return flagName(flag) + ": the value is missing", flagExample(flag), true
	case errors.As(err, &wrong):
		flag := wrong.GetFlag()
		return fmt.Sprintf("%s: %q %s", flagName(flag), wrong.GetValue(), describeInvalid(flag, wrong.Unwrap())), flagExample(flag), true
	}
	return "", "", false
}

func flagName(flag *pflag.Flag) string {
	name := "--" + flag.Name
	if flag.Shorthand != "" {
		name += " (-" + flag.Shorthand + ")"
	}
	return name
}

// describeInvalid describes why a value is invalid.
func describeInvalid(flag *pflag.Flag, cause error) string {
	if errors.Is(cause, strconv.ErrRange) {
		return "is out of range"
	}
	var number *strconv.NumError
	switch flag.Value.Type() {
	case "int", "int32", "int64":
		return "is not a whole number"
	case "bool":
		return "is not a valid Boolean value: use true or false"
	case "duration":
		return "is not a valid duration"
	case "stringToString":
		return "is not KEY=VALUE"
	}
	if errors.As(cause, &number) {
		return "is not a number"
	}
	return "is invalid: " + cause.Error()
}

// flagExample returns an example of the flag; "" if none exists.
func flagExample(flag *pflag.Flag) string {
	value := ""
	switch flag.Value.Type() {
	case "int", "int32", "int64":
		value = "4"
	case "bool":
		value = "true"
	case "duration":
		value = "90m or 24h; days are not supported"
	default:
		return ""
	}
	return fmt.Sprintf("for example --%s=%s", flag.Name, value)
}
