package cli

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/usererror"
)

// Value holds the -o flag of a command whose result is not a cluster object: text, json or yaml.
type Value struct {
	Format string
	// Extra lists the formats that the caller prints, in addition to text, json and yaml.
	Extra []string
}

func (v *Value) formats() []string { return append(slices.Clone(v.Extra), "json", "yaml") }

// AddFlag adds -o.
func (v *Value) AddFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&v.Format, "output", "o", "", "Format: "+joinWithOr(v.formats()))
	_ = cmd.RegisterFlagCompletionFunc("output", CompleteValues(v.formats()...))
}

// Validate rejects an unknown format.
func (v *Value) Validate() error {
	if v.Format == "" || slices.Contains(v.formats(), v.Format) {
		return nil
	}
	hint := "formats: " + strings.Join(v.formats(), ", ")
	if near := FindNearest(v.Format, v.formats()); near != "" {
		hint = "did you mean \"" + near + "\"? " + hint
	}
	return usererror.Errorf(hint, "unknown output format %q", v.Format)
}

// joinWithOr joins at least two words: wide, json or yaml.
func joinWithOr(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// PrintAnswer prints the answer as json or yaml. For the text format, it returns done = false, and the caller prints
// the answer.
func (v *Value) PrintAnswer(f *Factory, answer any) (done bool, err error) {
	switch v.Format {
	case "json":
		encoder := json.NewEncoder(f.Streams.Out)
		encoder.SetIndent("", "    ")
		return true, encoder.Encode(answer)
	case "yaml":
		text, err := yaml.Marshal(answer)
		if err == nil {
			_, err = f.Streams.Out.Write(text)
		}
		return true, err
	}
	return false, nil
}
