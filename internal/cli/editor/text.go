package editor

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// editablePart returns the part of an object that the editor shows: without the status and the fields that only the
// server sets.
func editablePart(object *unstructured.Unstructured) *unstructured.Unstructured {
	shown := object.DeepCopy()
	delete(shown.Object, "status")
	for _, field := range []string{"managedFields", "resourceVersion", "generation", "selfLink"} {
		unstructured.RemoveNestedField(shown.Object, "metadata", field)
	}
	return shown
}

// instructionsWidth is the width of the comment above the text, without the sign # and the blank.
const instructionsWidth = 78

// editText returns the text for the editor: the problems of the last attempt as comments, followed by the body.
func (k *Kind) editText(body []byte, problems []string) []byte {
	var b strings.Builder
	comment := func(text string) {
		for line := range strings.Lines(text) {
			b.WriteString(strings.TrimRight("# "+strings.TrimSuffix(line, "\n"), " ") + "\n")
		}
	}
	instructions := fmt.Sprintf("Edit the %s, then save and quit. Lines that begin with # are ignored; an empty file cancels the edit. %s", k.Noun, k.Help)
	comment(strings.Join(render.WrapAtBlanks(instructions, instructionsWidth), "\n"))
	if len(problems) > 0 {
		comment("\nThe " + k.Noun + " was not changed:\n")
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
func (k *Kind) parseEdited(body []byte, opened *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	text, err := yaml.YAMLToJSONStrict(body)
	if err != nil {
		return nil, fmt.Errorf("the text is invalid: %s", strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	edited := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(text, &edited.Object); err != nil || edited.Object == nil {
		return nil, fmt.Errorf("the text is not a Kubernetes object: keep the fields apiVersion, kind, metadata and spec")
	}
	for _, path := range [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}, {"metadata", "uid"}} {
		before, _, _ := unstructured.NestedString(opened.Object, path...)
		after, _, err := unstructured.NestedString(edited.Object, path...)
		if err != nil || before != after {
			return nil, fmt.Errorf("%s: the value %q cannot be changed; use `%s` to create a %s with another name", strings.Join(path, "."), before, k.CopyHint, k.Noun)
		}
	}
	return edited, nil
}

// checkFixedFields returns an error for each changed field that is neither a label, an annotation nor part of the spec.
func checkFixedFields(change Change) error {
	patch, err := mergePatchBetween(change.Before, change.After)
	if err != nil {
		return err
	}
	var problems []error
	reject := func(path string) {
		problems = append(problems, usererror.Errorf("only labels, annotations and spec can be changed", "%s: the value cannot be changed", path))
	}
	for _, name := range sortedKeys(patch) {
		inner, isMap := patch[name].(map[string]any)
		switch {
		case name == "spec" && isMap:
		case name == "metadata" && isMap:
			for _, field := range sortedKeys(inner) {
				if field != "labels" && field != "annotations" {
					reject("metadata." + field)
				}
			}
		default:
			reject(name)
		}
	}
	return errors.Join(problems...)
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
