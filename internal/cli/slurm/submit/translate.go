package submit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/translate"
	"github.com/vc-batch/vc/internal/usererror"
)

// siteOption is the name of the option that specifies a profile file to use instead of the cluster's profile.
const siteOption = "site"

var translateTable = func() *getopt.Table {
	t := *request.OptionTable(request.Sbatch, "SCRIPT [ARGS...]").WithOptions(
		getopt.Option{Long: siteOption, Arg: getopt.Required, Value: "FILE", Exact: true, Group: "Translating", Help: "Read the site's profile from a file, not from a cluster"})
	return &t
}()

// Translate shows the manifest that sbatch would submit.
var Translate = program.Program{Name: "translate", Table: translateTable, Run: translateScript,
	Short: "Show the manifest that sbatch would submit",
	Long: `
		Show what sbatch would submit, without submitting it: the Job, its ConfigMap and,
		if needed, its Secret, as YAML for kubectl apply. A comment after each field names
		the option that set it, and the script line or variable that contains the option.
		Objects that are applied this way have no owner, so the ConfigMap and the Secret
		remain when the Job is deleted.

		The options are the same as for sbatch, except that -o json and -o yaml select the
		output format.`,
	Example: `
		# Translate a script
		vcctl slurm translate run.sh

		# As JSON for programs
		vcctl slurm translate -o json --wrap='hostname'`,
}

func translateScript(ctx context.Context, c *program.Call) error {
	format := removeFormat(c)
	var s *jobInput
	var err error
	if file, given := c.Parsed.LastValue(siteOption); given {
		s, err = readOffline(c, file)
	} else {
		s, err = readBatch(ctx, c, c.Parsed.Operands)
	}
	if err != nil {
		return err
	}
	s.submitter = c.UserName()
	result, err := translateJob(c, s)
	if err != nil {
		return err
	}
	printNotes(c, s, result, "")
	if format == "json" {
		encoder := json.NewEncoder(c.Factory.Streams.Out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(newTranslation(s, result))
	}
	return writeExplained(c, result, c.Factory.Streams.Out)
}

// removeFormat removes -o json and -o yaml from the options and returns the requested format, which is yaml by default.
func removeFormat(c *program.Call) string {
	format := "yaml"
	c.Parsed.Given = slices.DeleteFunc(slices.Clone(c.Parsed.Given), func(g getopt.Given) bool {
		is := g.Name == "output" && (g.Value == "json" || g.Value == "yaml")
		if is {
			format = g.Value
		}
		return is
	})
	return format
}

// readOffline reads the script and its options, and reads the profile from a file instead of the cluster.
func readOffline(c *program.Call, file string) (*jobInput, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		if at := (*fs.PathError)(nil); errors.As(err, &at) {
			err = at.Err
		}
		return nil, usererror.Errorf("specify a file with the site's profile; docs/reference/slurm.md describes the format", "Unable to open file %s: %v", file, err)
	}
	p, err := profile.ParseProfile(text)
	if err != nil {
		return nil, usererror.Errorf("docs/reference/slurm.md describes the format of a profile", "%s: %v", file, err)
	}
	s := &jobInput{site: &site{namespace: "default", cluster: p.ClusterName, profile: p}}
	if namespace := *c.Factory.Config.Namespace; namespace != "" {
		s.site.namespace = namespace
	}
	script, err := readDirectives(c, s, c.Parsed.Operands)
	if err != nil {
		return nil, err
	}
	r, err := request.BuildRequest(request.Input{Command: request.Sbatch, Words: script.Components[0], Environ: c.UserEnvironment(), Line: c.Parsed, Now: c.Factory.Now()})
	if r == nil {
		return nil, err
	}
	s.request = r
	if err := errors.Join(err, s.checkOptions()); err != nil {
		return nil, err
	}
	if r.Verbose == 0 { // this command shows the effect of each option
		r.Verbose, s.warnings = 1, append(s.warnings, r.NoEffect...)
	}
	return s, nil
}

// translation is the output of -o json.
type translation struct {
	Objects  []any            `json:"objects"`
	Options  []translate.Made `json:"options"`
	Warnings []string         `json:"warnings,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
}

func newTranslation(s *jobInput, r *translate.Result) translation {
	all := translation{Objects: []any{r.Job, r.ConfigMap}, Options: r.Made, Warnings: append(s.warnings, r.Warnings...), Notes: r.NoteTexts()}
	if r.Secret != nil {
		all.Objects = append(all.Objects, r.Secret)
	}
	return all
}

// writeExplained writes the objects as YAML. Comments name the options that set each field.
func writeExplained(c *program.Call, r *translate.Result, out io.Writer) error {
	// The options to name in comments, by field of the Job, of the launcher's file in the ConfigMap, and of the
	// Secret.
	job, launcher, secret := map[string][]string{}, map[string][]string{}, map[string][]string{}
	for _, m := range r.Made {
		for _, field := range m.Fields {
			if name, is := strings.CutPrefix(field, "launch."); is {
				launcher["data["+launchconfig.SpecKey+"]"] = append(launcher["data["+launchconfig.SpecKey+"]"], name+": "+m.Option)
			} else if name, is := strings.CutPrefix(field, "ConfigMap"); is {
				launcher["data"+name] = append(launcher["data"+name], m.Option)
			} else if name, is := strings.CutPrefix(field, "Secret"); is {
				secret["data"+name] = append(secret["data"+name], m.Option)
			} else {
				job[field] = append(job[field], m.Option)
			}
		}
	}
	made := []map[string][]string{job, launcher, secret}
	var text bytes.Buffer
	for _, m := range r.Made {
		fmt.Fprintf(&text, "# %s: %s\n", m.Option, cmp.Or(m.Note, strings.Join(m.Fields, ", ")))
	}
	objects := []any{r.Job, r.ConfigMap}
	if r.Secret != nil {
		objects = append(objects, r.Secret)
	}
	for i, object := range objects {
		if i > 0 {
			text.WriteString("---\n")
		}
		if err := writeYAML(&text, object, made[i]); err != nil {
			return err
		}
	}
	_, err := out.Write(text.Bytes())
	return err
}

// writeYAML writes an object with comments on its fields.
func writeYAML(out io.Writer, object any, comments map[string][]string) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return err
	}
	delete(content, "status")
	var root yaml.Node
	if err := root.Encode(pruneEmpty(content)); err != nil {
		return err
	}
	addComments(&root, "", comments)
	encoder := yaml.NewEncoder(out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&root); err != nil {
		return err
	}
	return encoder.Close()
}

// pruneEmpty returns a copy of an object without nulls, creation timestamps and empty resources.
func pruneEmpty(value any) any {
	switch v := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for key, one := range v {
			switch {
			case one == nil, key == "creationTimestamp":
				continue
			case key == "resources" && len(one.(map[string]any)) == 0:
				continue
			}
			kept[key] = pruneEmpty(one)
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, one := range v {
			kept[i] = pruneEmpty(one)
		}
		return kept
	}
	return value
}

// addComments adds line comments to the fields below a node.
func addComments(node *yaml.Node, at string, comments map[string][]string) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			dotted, bracketed := strings.TrimPrefix(at+"."+key.Value, "."), at+"["+key.Value+"]"
			if options := slices.Concat(comments[dotted], comments[bracketed]); len(options) > 0 {
				switch {
				case value.Kind != yaml.ScalarNode:
					key.LineComment = strings.Join(options, " ")
				case strings.Contains(value.Value, "\n"):
					key.HeadComment = strings.Join(options, "\n")
				default:
					value.LineComment = strings.Join(options, " ")
				}
			}
			addComments(value, dotted, comments)
		}
	case yaml.SequenceNode:
		for i, value := range node.Content {
			addComments(value, at+"["+strconv.Itoa(i)+"]", comments)
		}
	}
}
