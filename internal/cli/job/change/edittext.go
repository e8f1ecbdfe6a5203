package change

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// mayChange is the comment at the top of the text in the editor.
const mayChange = `Edit the job, save and quit. Lines that begin with # are ignored; an empty file
cancels the edit. You can change labels and annotations, and in spec:
minAvailable, priorityClassName, and replicas and minAvailable of each task. If
the job is held or has a later begin time, you can also change queue,
runningEstimate and activeDeadlineSeconds.`

// editablePart returns the part of a job that the editor shows: without the status and the fields that only the server
// sets.
func editablePart(job *unstructured.Unstructured) *unstructured.Unstructured {
	shown := job.DeepCopy()
	delete(shown.Object, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "selfLink"} {
		unstructured.RemoveNestedField(shown.Object, "metadata", field)
	}
	return shown
}

// editText returns the text for the editor: the problems of the last attempt as comments, followed by the body.
func editText(body []byte, problems []string) []byte {
	var b strings.Builder
	comment := func(text string) {
		for line := range strings.Lines(text) {
			b.WriteString(strings.TrimRight("# "+strings.TrimSuffix(line, "\n"), " ") + "\n")
		}
	}
	comment(mayChange)
	if len(problems) > 0 {
		comment("\nThe job was not changed:\n")
		for _, problem := range problems {
			comment("  " + strings.ReplaceAll(problem, "\n", "\n  "))
		}
	}
	b.WriteString("#\n")
	b.Write(body)
	return []byte(b.String())
}

// removeComments removes the comments that vcctl wrote above the body.
func removeComments(text []byte) []byte {
	lines := strings.SplitAfter(string(text), "\n")
	at := slices.IndexFunc(lines, func(line string) bool { return strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") })
	if at < 0 {
		return nil
	}
	return []byte(strings.Join(lines[at:], ""))
}

// parseEdited parses the saved text and rejects an object other than the opened one.
func parseEdited(body []byte, opened *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := yaml.YAMLToJSONStrict(body)
	if err != nil {
		return nil, fmt.Errorf("the text is invalid: %s", strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	edited := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &edited.Object); err != nil || edited.Object == nil {
		return nil, fmt.Errorf("the text is not an object: keep apiVersion, kind, metadata and spec")
	}
	for _, path := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "uid"}} {
		before, _, _ := unstructured.NestedString(opened.Object, path...)
		after, _, err := unstructured.NestedString(edited.Object, path...)
		if err != nil || before != after {
			return nil, fmt.Errorf("%s: the value %q cannot be changed; `vcctl job rerun --name` creates a job with another name", strings.Join(path, "."), before)
		}
	}
	return edited, nil
}

// rebaseChanges applies the user's changes, which are the difference between opened and edited, to now. overlap lists
// the fields that both the user and another client changed, to different values. For these fields, the result contains
// the user's values.
func rebaseChanges(opened, edited, now *unstructured.Unstructured) (result *unstructured.Unstructured, overlap []string, err error) {
	mine, err := mergePatchBetween(opened, edited)
	if err != nil {
		return nil, nil, err
	}
	theirs, err := mergePatchBetween(opened, now)
	if err != nil {
		return nil, nil, err
	}
	text, err := now.MarshalJSON()
	if err != nil {
		return nil, nil, err
	}
	patch, err := json.Marshal(mine)
	if err != nil {
		return nil, nil, err
	}
	if text, err = jsonpatch.MergePatch(text, patch); err != nil {
		return nil, nil, err
	}
	result = &unstructured.Unstructured{}
	return result, listOverlaps(mine, theirs, ""), result.UnmarshalJSON(text)
}

// mergePatchBetween returns the JSON merge patch from one object to another.
func mergePatchBetween(from, to *unstructured.Unstructured) (map[string]any, error) {
	a, err := from.MarshalJSON()
	if err != nil {
		return nil, err
	}
	b, err := to.MarshalJSON()
	if err != nil {
		return nil, err
	}
	text, err := jsonpatch.CreateMergePatch(a, b)
	if err != nil {
		return nil, err
	}
	patch := map[string]any{}
	return patch, json.Unmarshal(text, &patch)
}

// listOverlaps lists the fields that two patches set to different values, together with the values of the second patch.
func listOverlaps(mine, theirs map[string]any, path string) []string {
	var fields []string
	for _, name := range sortedKeys(mine) {
		other, both := theirs[name]
		if !both || reflect.DeepEqual(mine[name], other) {
			continue
		}
		at := strings.TrimPrefix(path+"."+name, ".")
		inner, isMap := mine[name].(map[string]any)
		otherInner, otherIsMap := other.(map[string]any)
		if isMap && otherIsMap {
			fields = append(fields, listOverlaps(inner, otherInner, at)...)
			continue
		}
		fields = append(fields, fmt.Sprintf("%s was changed to %s by another user in the meantime; to use your value instead, delete this line and save", at, shortJSON(other)))
	}
	return fields
}

// shortJSON returns a short value as JSON, and a placeholder for a long one.
func shortJSON(value any) string {
	const longest = 60
	text, err := json.Marshal(value)
	if err != nil || len(text) > longest {
		return "another value"
	}
	return string(text)
}

func sortedKeys(of map[string]any) []string {
	names := make([]string, 0, len(of))
	for name := range of {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// reasonLines returns the lines of an error and its hints, to be shown as comments in the editor.
func reasonLines(err error) []string {
	var lines []string
	for _, one := range usererror.Flatten(err) {
		human := cli.HumanizeError(one, cli.Connection{})
		line := human.What
		if human.Hint != "" {
			line += "\n(" + human.Hint + ")"
		}
		lines = append(lines, line)
	}
	return lines
}
