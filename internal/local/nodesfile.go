package local

import (
	"os"

	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/usererror"
)

// ReadNodesFile reads a YAML list of nodespec.Spec. Unknown fields are errors.
func ReadNodesFile(path string) ([]nodespec.Spec, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usererror.Wrapf("specify the path of a YAML file; see vc-local up --help", "nodes file: %v", err)
	}
	specs, err := nodespec.Parse(data)
	if err != nil {
		return nil, usererror.Wrapf("write the nodes as a YAML list: - {name: a, kind: process, cpu: \"4\", memory: 8Gi}", "nodes file %s: %v", path, err)
	}
	return specs, nil
}
