package program

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// MachineFormats lists the options for machine-readable output.
var MachineFormats = []string{"json", "yaml"}

// PrintDocument writes the output of --json or --yaml.
func PrintDocument(out io.Writer, kind string, document any) error {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	if kind == "yaml" {
		if text, err = yaml.JSONToYAML(text); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "%s\n", strings.TrimRight(string(text), "\n"))
	return err
}
