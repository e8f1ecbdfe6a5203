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

// A * at the end of a pattern matches every name that begins like it.
var (
	// ofTheSubmission are the variables that --export=ALL never takes along: they belong to the shell that submits, to the machine, or the job has its own.
	ofTheSubmission = []string{"SLURM_*", "SBATCH_*", "CUDA_VISIBLE_DEVICES", "KUBE*", "PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", "HOSTNAME"}
	// ofTheMachine are those that would break what is in a container. Where jobs run the machine's own programs they are taken along.
	ofTheMachine = []string{"PATH", "LD_*", "HOME", "SHELL", "PYTHON*", "CONDA*", "XDG_*", "SSH_*", "DBUS_*", "TERM", "BASH_FUNC_*"}
)

// stays reports whether --export=ALL leaves a variable on the submitting machine.
func (b *builder) stays(name string) bool {
	if b.InJob && launch.IsOfPod(name) {
		return true
	}
	return matches(name, ofTheSubmission) || !b.ownPrograms() && matches(name, ofTheMachine)
}

// ownPrograms reports whether jobs run the programs of the submitting machine: all nodes are process nodes, or the profile is vc-local's.
func (b *builder) ownPrograms() bool { return b.Facts.Helper || b.p.DefaultImage == processImage }

// matches reports whether one of the patterns stands for a name.
func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
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
		what = b.defaultExport()
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

// NothingExported is the note about jobs that get no variables of the submitting machine although Slurm's would.
const NothingExported = "the job gets none of your environment variables, because it runs in a container; --export=ALL or --export=NAME,NAME takes them along"

// defaultExport is the value of --export where neither the user nor the site says one: Slurm's, except in containers.
func (b *builder) defaultExport() string {
	if b.ownPrograms() {
		return "ALL"
	}
	b.notes = append(b.notes, NothingExported)
	return "NONE"
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
				if name, _, ok := strings.Cut(entry, "="); ok && !b.stays(name) {
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
