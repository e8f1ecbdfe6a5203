package cli

import (
	"encoding/json"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/usererror"
)

// Value holds the -o flag of a command whose result is not a cluster object: text, json or yaml.
type Value struct {
	Format string
}

// AddFlag adds -o.
func (v *Value) AddFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&v.Format, "output", "o", "", "Format: json or yaml")
	_ = cmd.RegisterFlagCompletionFunc("output", CompleteValues("json", "yaml"))
}

// Validate rejects an unknown format.
func (v *Value) Validate() error {
	switch v.Format {
	case "", "json", "yaml":
		return nil
	}
	hint := "formats: json, yaml"
	if near := FindNearest(v.Format, []string{"json", "yaml"}); near != "" {
		hint = "did you mean \"" + near + "\"? " + hint
	}
	return usererror.Errorf(hint, "unknown output format %q", v.Format)
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
