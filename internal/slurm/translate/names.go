package translate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// longestName is the maximum length of a title in an object name.
const longestName = 40

// objectName converts a title to the first part of an object name. The result contains only lower-case letters, digits
// and dashes. It starts with a letter, because a Service has the same name.
func objectName(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		text := b.String()
		switch {
		case isLetterOrDigit(r):
			b.WriteRune(r)
		case text != "" && !strings.HasSuffix(text, "-"):
			b.WriteByte('-')
		}
	}
	name := b.String()
	if name == "" || (name[0] >= '0' && name[0] <= '9') {
		name = "job-" + name
	}
	return strings.Trim(name[:min(len(name), longestName)], "-")
}

// isLetterOrDigit reports whether r is an ASCII letter or digit.
func isLetterOrDigit(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// labelValue converts a text to a valid label value.
func labelValue(text string) string {
	kept := strings.Map(func(r rune) rune {
		if isLetterOrDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, text)
	return strings.Trim(kept[:min(len(kept), 63)], "-_.")
}

// longestText is the maximum length, in bytes, of a command line that is stored with the job. It is limited because all
// annotations together must not exceed 256 KiB.
const longestText = 4 << 10

// truncateText truncates a text to longestText and marks the end of a truncated text with an ellipsis.
func truncateText(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "") + "…"
}

// keyPath returns the path of a key in a map field of the Job.
func keyPath(in, key string) string { return in + "[" + key + "]" }

// taskPath returns the path of a task in the Job.
func taskPath(i int) string { return fmt.Sprintf("spec.tasks[%d]", i) }

// containerPath returns the path of a field in the first task's container.
func containerPath(field string) string { return taskPath(0) + ".template.spec.containers[0]." + field }

func formatNumber(n int64) string { return strconv.FormatInt(n, 10) }

func joinWords(words []string) string { return strings.Join(words, ", ") }

// encodeSpec returns the content of the file that contains the job's specification for the launcher.
func encodeSpec(spec *launchconfig.Spec) string {
	text, err := json.MarshalIndent(spec, "", " ")
	if err != nil {
		return "{}" // cannot happen, because strings and numbers can always be encoded
	}
	return string(text) + "\n"
}
