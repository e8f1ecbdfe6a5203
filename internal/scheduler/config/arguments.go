package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Arguments holds the arguments of a policy or an action, as parsed from YAML.
type Arguments map[string]any

// Int returns the argument as a whole number. If the value is not a whole number, it reports a warning and returns the
// default.
func (a Arguments) Int(key string, def int, warn func(string)) int {
	switch v := a[key].(type) {
	case nil:
		return def
	case float64:
		if v == float64(int(v)) {
			return int(v)
		}
	case int:
		return v
	case int64:
		return int(v)
	}
	warnArgument(warn, key, "a whole number", a[key])
	return def
}

// Float returns the argument as a number.
func (a Arguments) Float(key string, def float64, warn func(string)) float64 {
	switch v := a[key].(type) {
	case nil:
		return def
	case float64:
		return v
	case int:
		return float64(v)
	case int64:
		return float64(v)
	}
	warnArgument(warn, key, "a number", a[key])
	return def
}

// Bool returns the argument as a boolean. It also accepts text such as "true".
func (a Arguments) Bool(key string, def bool, warn func(string)) bool {
	switch v := a[key].(type) {
	case nil:
		return def
	case bool:
		return v
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return b
		}
	}
	warnArgument(warn, key, "true or false", a[key])
	return def
}

// Percent returns the argument as a number from 0 to 100.
func (a Arguments) Percent(key string, def float64, warn func(string)) float64 {
	v := a.Float(key, def, warn)
	if v >= 0 && v <= 100 {
		return v
	}
	warnArgument(warn, key, "from 0 to 100", a[key])
	return def
}

// WarnUnknown warns about the keys in a section that have no effect. where is the name of the section, such as
// thresholds.
func (a Arguments) WarnUnknown(where string, warn func(string), known ...string) {
	for _, key := range keysWithout(a, known) {
		if warn != nil {
			warn(fmt.Sprintf("argument %s.%s has no effect: the valid keys of %s are %s", where, key, where, strings.Join(known, ", ")))
		}
	}
}

// InSection returns the arguments of a section with the section's name before each key, so that warnings name both.
func (a Arguments) InSection(where string) Arguments {
	inside := Arguments{}
	for key, value := range a {
		inside[where+"."+key] = value
	}
	return inside
}

// Duration returns the argument as a duration of at least one second. If the value is missing or invalid, it returns the
// default.
func (a Arguments) Duration(key string, def time.Duration, warn func(string)) time.Duration {
	text := a.String(key, "", warn)
	if text == "" {
		return def
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		warn(fmt.Sprintf("argument %s: must be a duration of at least 1s, such as 4h, not %q; %s is used", key, text, def))
		return def
	}
	return d
}

// String returns the argument as text.
func (a Arguments) String(key, def string, warn func(string)) string {
	switch v := a[key].(type) {
	case nil:
		return def
	case string:
		return v
	}
	warnArgument(warn, key, "text", a[key])
	return def
}

func warnArgument(warn func(string), key, want string, have any) {
	if warn != nil {
		warn(fmt.Sprintf("argument %s: must be %s, not %v; the default is used", key, want, have))
	}
}
