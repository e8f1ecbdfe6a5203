package translate

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/launch"
)

// longestName is how much of a title the name of an object keeps.
const longestName = 40

// objectName makes the beginning of an object's name of a title: lower-case letters, digits and -, first a letter, because a Service has the same name.
func objectName(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if text := b.String(); text != "" && !strings.HasSuffix(text, "-") {
			b.WriteByte('-')
		}
	}
	name := b.String()
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "job-" + name
	}
	return strings.Trim(name[:min(len(name), longestName)], "-")
}

// labelValue makes a text fit for the value of a label.
func labelValue(text string) string {
	kept := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, text)
	return strings.Trim(kept[:min(len(kept), 63)], "-_.")
}

// longestText is how many bytes of a line are kept with the job: all annotations together may have 256 KiB.
const longestText = 4 << 10

// short is a text, cut where it is too long to be kept.
func short(text string) string {
	if len(text) <= longestText {
		return text
	}
	return strings.ToValidUTF8(text[:longestText], "") + "…"
}

// path is a key in a map of the Job.
func path(in, key string) string { return in + "[" + key + "]" }

// task is the path of a task.
func task(i int) string { return fmt.Sprintf("spec.tasks[%d]", i) }

// container is a path in the first task's container.
func container(field string) string { return task(0) + ".template.spec.containers[0]." + field }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func join(words []string) string { return strings.Join(words, ", ") }

// specText is the launcher's file.
func specText(spec *launch.Spec) string {
	text, err := json.MarshalIndent(spec, "", " ")
	if err != nil {
		return "{}" // texts and numbers can always be written
	}
	return string(text) + "\n"
}
