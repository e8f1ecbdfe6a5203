package v1alpha1

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PluginArguments holds the arguments of a job plugin. If an argument is missing, its value is the default.
//
// +kubebuilder:object:generate=false
type PluginArguments struct {
	values map[string]string
	given  map[string]int // position in the list of arguments
	// Unknown contains a warning for each argument that the plugin does not accept, with the path of the field.
	Unknown []string
}

// String returns the value of an argument.
func (a PluginArguments) String(name string) string { return a.values[name] }

// Bool returns the value of a boolean argument.
func (a PluginArguments) Bool(name string) bool {
	on, _ := strconv.ParseBool(a.values[name])
	return on
}

// Int returns the value of a numeric argument: a port, or seconds.
func (a PluginArguments) Int(name string) int32 {
	n, _ := strconv.ParseInt(a.values[name], 0, 32)
	return int32(n)
}

// Given reports whether an argument is present.
func (a PluginArguments) Given(name string) bool {
	_, given := a.given[name]
	return given
}

// pluginArgument describes an argument of a plugin, which is written as --name=value, -name=value or two words.
//
// +kubebuilder:object:generate=false
type pluginArgument struct {
	name      string
	otherwise string // default value
	wants     want
}

// want is the type that the value of an argument must have.
type want int

const (
	aTask      want = iota // the name of a task
	aContainer             // the name of a container
	aPort
	anyPort // a number; if it is not a valid port, the default is used
	aSwitch
	seconds
	anImage
	aPath
	aSecret // any value; messages must not repeat it
)

// pluginArguments maps each plugin to its arguments. The names and defaults are the same as in Volcano.
var pluginArguments = map[string][]pluginArgument{
	PluginEnv: {},
	PluginService: {
		{"publish-not-ready-addresses", "false", aSwitch}, {"disable-network-policy", "false", aSwitch}, {"inject-hosts-env", "true", aSwitch},
	},
	PluginSSH: {
		{"ssh-key-file-path", "/root/.ssh", aPath}, {"ssh-private-key", "", aSecret}, {"ssh-public-key", "", aSecret}, {"ssh-port", "22", anyPort},
	},
	PluginTensorFlow: {
		{"ps", "ps", aTask}, {"worker", "worker", aTask}, {"chief", "chief", aTask}, {"evaluator", "evaluator", aTask}, {"port", "2222", aPort},
	},
	PluginMPI: {{"master", "master", aTask}, {"worker", "worker", aTask}, {"port", "22", aPort}},
	PluginPyTorch: {
		{"master", "master", aTask}, {"worker", "worker", aTask}, {"port", "23456", aPort},
		{"wait-master-enabled", "false", aSwitch}, {"wait-master-timeout", "300", seconds}, {"wait-master-image", "busybox:1.36.1", anImage},
	},
	PluginHCCLRank: {{"master", "master", aTask}, {"worker", "worker", aTask}},
	PluginRay: {
		{"head", "head", aTask}, {"headContainer", "head", aContainer}, {"worker", "worker", aTask}, {"workerContainer", "worker", aContainer},
		{"port", "6379", aPort}, {"dashboardPort", "8265", aPort}, {"clientPort", "10001", aPort},
	},
}

// PluginNames lists the job plugins. Validation and the CRD reject all other names.
var PluginNames = sortedKeys(pluginArguments)

// ParsePlugin parses the arguments of a plugin in the same way as Go's flag package. It returns an error, with a path
// below at, for each invalid value. Unknown arguments are only recorded in Unknown, because Volcano ignores them. The
// returned arguments can be used even if there are errors.
func ParsePlugin(name string, words []string, at *field.Path) (PluginArguments, field.ErrorList) {
	takes, known := pluginArguments[name]
	if !known {
		return PluginArguments{}, field.ErrorList{field.Invalid(at, name, fmt.Sprintf(
			"unable to find job plugin: %s; valid plugins are %s", name, strings.Join(PluginNames, ", ")))}
	}
	a := PluginArguments{values: map[string]string{}, given: map[string]int{}}
	for _, argument := range takes {
		a.values[argument.name] = argument.otherwise
	}
	var errs field.ErrorList
	for i := 0; i < len(words); i++ {
		read, err := a.read(name, takes, words[i:], i, at.Index(i))
		if err != nil {
			errs = append(errs, err)
		}
		i += read - 1
	}
	return a, errs
}

// read parses one argument at the beginning of words, whose first word has the specified index, and returns the
// number of words used.
func (a *PluginArguments) read(plugin string, takes []pluginArgument, words []string, index int, at *field.Path) (int, *field.Error) {
	if words[0] == "" {
		return 1, nil
	}
	name, value, assigned := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(words[0], "-"), "-"), "=")
	if !strings.HasPrefix(words[0], "-") || name == "" {
		// The message does not repeat the word, because it may be a key.
		a.Unknown = append(a.Unknown, fmt.Sprintf("%s is ignored because arguments of plugin %s must have the form --name=value; %s", at, plugin, listArguments(takes)))
		return 1, nil
	}
	i := slices.IndexFunc(takes, func(t pluginArgument) bool { return t.name == name })
	if i < 0 {
		name, _, _ = strings.Cut(name, " ") // the rest may be a key
		a.Unknown = append(a.Unknown, fmt.Sprintf("%s is ignored because plugin %s has no argument --%s; %s", at, plugin, name, listArguments(takes)))
		return 1, nil
	}
	read := 1
	switch {
	case assigned:
	case takes[i].wants == aSwitch:
		value = "true"
	case len(words) == 1:
		return 1, field.Forbidden(at, fmt.Sprintf("argument --%s needs a value: --%s=VALUE", name, name))
	default:
		value, read = words[1], 2
	}
	if text := takes[i].wants.judge(value); text != "" {
		return read, field.Invalid(at, words[0], fmt.Sprintf("argument --%s %s", name, text))
	}
	a.values[name], a.given[name] = value, index
	return read, nil
}

func listArguments(takes []pluginArgument) string {
	if len(takes) == 0 {
		return "it takes none"
	}
	names := make([]string, len(takes))
	for i, t := range takes {
		names[i] = "--" + t.name
	}
	return "there are " + strings.Join(names, ", ")
}

// judge returns the reason why a value is invalid, or "".
func (w want) judge(value string) string {
	switch w {
	case aPort:
		if n, err := strconv.ParseInt(value, 0, 32); err != nil || n < 1 || n > 65535 {
			return "must be a port number from 1 to 65535"
		}
	case anyPort:
		if _, err := strconv.ParseInt(value, 0, 32); err != nil {
			return "must be a port number from 1 to 65535"
		}
	case aSwitch:
		if _, err := strconv.ParseBool(value); err != nil {
			return "must be true or false"
		}
	case seconds:
		if n, err := strconv.ParseInt(value, 0, 32); err != nil || n < 1 {
			return "must be a whole number of seconds, at least 1"
		}
	case aPath:
		if !strings.HasPrefix(value, "/") || strings.Contains(value, ":") {
			return "must be an absolute path in the container, without a colon"
		}
	case aTask, aContainer, anImage:
		if strings.TrimSpace(value) != value || value == "" {
			return "must be a name without leading or trailing spaces"
		}
	case aSecret:
	}
	return ""
}
