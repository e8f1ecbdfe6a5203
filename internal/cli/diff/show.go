package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/printable"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// contextLines is the number of unchanged lines shown around a change.
const contextLines = 3

// yamlText returns an object as YAML; "" if the object does not exist.
func yamlText(object *unstructured.Unstructured) (string, error) {
	if object == nil {
		return "", nil
	}
	text, err := yaml.Marshal(object.Object)
	return string(text), err
}

// showUnified prints a unified diff of the pairs that differ. It reports whether any pair differs.
func (o *options) showUnified(pairs []pair) (bool, error) {
	var out bytes.Buffer
	style := render.Style{Enabled: o.f.Streams.IsColored()}
	for _, one := range pairs {
		text, err := one.unifiedDiff()
		if err != nil {
			return false, err
		}
		for line := range strings.Lines(text) {
			fmt.Fprintln(&out, colorLine(style, printable.EscapeText(strings.TrimSuffix(line, "\n"))))
		}
	}
	return out.Len() > 0, o.f.Streams.ShowPaged(out.Bytes())
}

// unifiedDiff returns the unified diff of a pair; "" if its objects are equal.
func (p *pair) unifiedDiff() (string, error) {
	before, err := yamlText(p.live)
	if err != nil {
		return "", err
	}
	after, err := yamlText(p.applied)
	if err != nil {
		return "", err
	}
	from := "live/" + p.name
	if p.live == nil {
		from = os.DevNull
	}
	return difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: slices.Collect(strings.Lines(before)), B: slices.Collect(strings.Lines(after)), FromFile: from, ToFile: "applied/" + p.name, Context: contextLines,
	})
}

// colorLine colors a line of a diff according to its first characters.
func colorLine(style render.Style, line string) string {
	switch {
	case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		return style.Bold(line)
	case strings.HasPrefix(line, "-"):
		return style.Bad(line)
	case strings.HasPrefix(line, "+"):
		return style.Good(line)
	case strings.HasPrefix(line, "@@"):
		return style.Dim(line)
	}
	return line
}

// runExternal runs the external diff program on two directories and reports whether it found differences.
func (o *options) runExternal(ctx context.Context, program string, pairs []pair) (differs bool, err error) {
	directory, err := os.MkdirTemp("", "vcctl-diff-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	live, applied := filepath.Join(directory, "LIVE"), filepath.Join(directory, "MERGED")
	if err := errors.Join(os.Mkdir(live, 0o700), os.Mkdir(applied, 0o700)); err != nil {
		return false, err
	}
	for _, one := range pairs {
		if err := errors.Join(writeObject(live, one.file, one.live), writeObject(applied, one.file, one.applied)); err != nil {
			return false, err
		}
	}
	words := strings.Fields(program)
	command := exec.CommandContext(ctx, words[0], append(words[1:], live, applied)...)
	command.Stdin, command.Stdout, command.Stderr = o.f.Streams.In, o.f.Streams.Out, o.f.Streams.Err
	err = command.Run()
	var ended *exec.ExitError
	switch {
	case err == nil:
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.As(err, &ended) && ended.ExitCode() == cli.ExitDiffers:
		return true, nil
	}
	return false, &usererror.Error{What: fmt.Sprintf("program %q: %v", program, startError(err)), Err: err,
		Hint: externalVariable + " must be a program that compares two directories and exits with 0 or 1; unset it to use the built-in comparison"}
}

// startError removes the prefix of package exec from the error of a program that could not be started.
func startError(err error) error {
	var start *exec.Error
	if errors.As(err, &start) {
		return start.Err
	}
	return err
}

// writeObject writes an object to a file in the directory. It does nothing if the object does not exist.
func writeObject(directory, file string, object *unstructured.Unstructured) error {
	if object == nil {
		return nil
	}
	text, err := yamlText(object)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(directory, file), []byte(text), 0o600)
}
