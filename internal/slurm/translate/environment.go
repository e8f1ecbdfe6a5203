package translate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/fault"
	"github.com/vc-batch/vc/internal/slurm/launch"
)

// maxEnvironment is how many bytes may be exported.
const maxEnvironment = 128 << 10

// kept are the variables that --export=ALL does not take along: in a container they would break what is there. A * stands at the end of a beginning.
var kept = []string{"PATH", "LD_*", "HOME", "SHELL", "PYTHON*", "CONDA*", "KUBE*", "XDG_*", "SSH_*", "SLURM_*", "SBATCH_*", "PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", "HOSTNAME", "DBUS_*", "TERM", "BASH_FUNC_*"}

// stays says whether a variable stays on the submitting machine.
func stays(name string) bool {
	return slices.ContainsFunc(kept, func(pattern string) bool {
		if beginning, many := strings.CutSuffix(pattern, "*"); many {
			return strings.HasPrefix(name, beginning)
		}
		return name == pattern
	})
}

// exported are the variables that the script gets from the submitting machine.
func (b *builder) exported() []string {
	what := b.r.Export
	if what == "" {
		what = b.p.Export
	}
	if what == "" {
		what = "NONE"
	}
	if b.r.Has("export") {
		b.spec.ExportEnv = WithoutValues(what, "")
		b.by("export", "Secret["+launch.EnvironmentKey+"]")
	}
	all := b.chosen(what)
	if len(b.ExportFile) > 0 {
		all = launch.Merge(all, b.ExportFile)
		b.by("export-file", "Secret["+launch.EnvironmentKey+"]")
	}
	size := 0
	for _, entry := range all {
		size += len(entry) + 1
	}
	if size > maxEnvironment {
		b.fail(fault.Errorf("export what is needed: --export=NAME,NAME", "the exported environment has %d bytes, more than %d", size, maxEnvironment))
	}
	return all
}

// chosen reads the value of --export: ALL, NONE, NIL, names, NAME=value.
func (b *builder) chosen(what string) []string {
	environ := map[string]string{}
	for _, entry := range b.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			environ[name] = value
		}
	}
	var all []string
	for i, word := range exportWords(what) {
		name, value, set := strings.Cut(word, "=")
		switch {
		case set:
			all = launch.Merge(all, []string{name + "=" + value})
		case i == 0 && strings.EqualFold(name, "ALL"):
			for _, entry := range b.Environ {
				if name, _, ok := strings.Cut(entry, "="); ok && !stays(name) {
					all = append(all, entry)
				}
			}
		case i == 0 && (strings.EqualFold(name, "NONE") || strings.EqualFold(name, "NIL")), name == "":
		default:
			if value, there := environ[name]; there {
				all = launch.Merge(all, []string{name + "=" + value})
			} else {
				b.warnings = append(b.warnings, fmt.Sprintf("--export: there is no variable %s", name))
			}
		}
	}
	return all
}

// WithoutValues is the value of --export with something in place of each variable's value: values may be secrets, and what is kept for people
// to read is not the place for them. With nothing there names are left, which stand for what the environment has by then.
func WithoutValues(what, instead string) string {
	words := exportWords(what)
	for i, word := range words {
		if name, _, set := strings.Cut(word, "="); set {
			words[i] = name + instead
		}
	}
	return strings.Join(words, ",")
}

// exportWords cuts at commas that are outside quotes; the quotes go.
func exportWords(text string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && r == ',':
			words = append(words, word.String())
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	return append(words, word.String())
}
