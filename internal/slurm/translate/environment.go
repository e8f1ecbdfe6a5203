package translate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/usererror"
)

// maxEnvironment is the maximum size of the exported variables in bytes.
const maxEnvironment = 128 << 10

// In these patterns, a * at the end matches any suffix.
var (
	// ofTheSubmission lists variables that --export=ALL never exports, because they are specific to the submitting
	// shell or machine, or because the job sets its own values.
	ofTheSubmission = []string{"SLURM_*", "SBATCH_*", "CUDA_VISIBLE_DEVICES", "KUBE*", "PWD", "OLDPWD", "SHLVL", "_", "TMPDIR", "HOSTNAME"}
	// ofTheMachine lists variables that would break programs in a container. They are exported only if jobs run the
	// programs of the submitting machine.
	ofTheMachine = []string{"PATH", "LD_*", "HOME", "SHELL", "PYTHON*", "CONDA*", "XDG_*", "SSH_*", "DBUS_*", "TERM", "BASH_FUNC_*"}
)

// isOmittedFromExport reports whether --export=ALL omits a variable.
func (b *source) isOmittedFromExport(name string) bool {
	if b.InJob && launchconfig.IsPodVariable(name) {
		return true
	}
	return matchesAny(name, ofTheSubmission) || (!b.usesLocalPrograms() && matchesAny(name, ofTheMachine))
}

// matchesAny reports whether a name matches any of the patterns.
func matchesAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if beginning, many := strings.CutSuffix(pattern, "*"); many {
			return strings.HasPrefix(name, beginning)
		}
		return name == pattern
	})
}

// setEnvironment selects the variables of the submitting machine that the script receives.
func (b *topic) setEnvironment() {
	what := b.r.Export
	if what == "" {
		what = b.p.Export
	}
	if what == "" {
		what = b.defaultExport()
	}
	if b.r.HasOption("export") {
		b.launch.ExportEnv = ReplaceValues(what, "")
		b.recordFields("export", "Secret["+launchconfig.EnvironmentKey+"]")
	}
	b.exported = b.selectVariables(what)
	if len(b.ExportFile) > 0 {
		b.exported = launchconfig.MergeVariables(b.exported, b.ExportFile)
		b.recordFields("export-file", "Secret["+launchconfig.EnvironmentKey+"]")
	}
	size := 0
	for _, entry := range b.exported {
		size += len(entry) + 1
	}
	if size > maxEnvironment {
		b.addError(usererror.Errorf("export only the variables that the job needs: --export=NAME,NAME", "the exported environment has %d bytes, but the limit is %d", size, maxEnvironment))
	}
}

// nothingExported is the text of the note whose kind is NothingExported.
const nothingExported = "your environment variables are not passed to the job, because it runs in a container; use --export=ALL or --export=NAME,NAME to pass them"

// defaultExport returns the value of --export that is used if neither the user nor the profile sets one. As in Slurm,
// it is ALL, except for jobs that run in containers.
func (b *topic) defaultExport() string {
	if b.usesLocalPrograms() {
		return "ALL"
	}
	b.notes = append(b.notes, Note{NothingExported, nothingExported})
	return "NONE"
}

// selectVariables returns the variables selected by a value of --export: ALL, NONE, NIL, names, or NAME=value.
func (b *topic) selectVariables(what string) []string {
	environ := map[string]string{}
	for _, entry := range b.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			environ[name] = value
		}
	}
	var all []string
	for i, word := range splitExport(what) {
		name, value, set := strings.Cut(word, "=")
		switch {
		case set:
			all = launchconfig.MergeVariables(all, []string{name + "=" + value})
		case i == 0 && strings.EqualFold(name, "ALL"):
			for _, entry := range b.Environ {
				if name, _, ok := strings.Cut(entry, "="); ok && !b.isOmittedFromExport(name) {
					all = append(all, entry)
				}
			}
		case i == 0 && (strings.EqualFold(name, "NONE") || strings.EqualFold(name, "NIL")), name == "":
		default:
			if value, there := environ[name]; there {
				all = launchconfig.MergeVariables(all, []string{name + "=" + value})
			} else {
				b.warnings = append(b.warnings, fmt.Sprintf("--export: variable %s is not set", name))
			}
		}
	}
	return all
}

// ReplaceValues replaces each value in the value of --export, because values may be secrets and the result is visible
// to other users. If instead is empty, only the names remain.
func ReplaceValues(what, instead string) string {
	words := splitExport(what)
	for i, word := range words {
		if name, _, set := strings.Cut(word, "="); set {
			words[i] = name + instead
		}
	}
	return strings.Join(words, ",")
}

// splitExport splits a text at commas outside quotes, and removes the quotes.
func splitExport(text string) []string {
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
