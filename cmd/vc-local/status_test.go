package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/local"
)

func TestNodesAreListedByTheirNumbers(t *testing.T) {
	var out bytes.Buffer
	if err := printNodes(&out, []local.NodeStatus{{Name: "sim-1"}, {Name: "sim-10"}, {Name: "sim-2"}}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n")[1:] {
		names = append(names, strings.Fields(line)[0])
	}
	if got := strings.Join(names, " "); got != "sim-1 sim-2 sim-10" {
		t.Errorf("the nodes are listed as %s", got)
	}
}
