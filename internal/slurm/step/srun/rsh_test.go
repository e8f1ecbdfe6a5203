package srun

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSSHsArgumentsAreRead(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		host    string
		Command []string
	}{
		"node-1 orted -x": {"node-1", []string{"orted", "-x"}},
		"-x -p 22 -o StrictHostKeyChecking=no n1 a": {"n1", []string{"a"}},
		"-q mei@n1 -- a":       {"n1", []string{"--", "a"}},
		"-oBatchMode=yes n1 a": {"n1", []string{"a"}},
		"":                     {"", nil},
	}
	for line, want := range cases {
		host, command := rshArguments(strings.Fields(line))
		if host != want.host || !cmp.Equal(command, want.Command) {
			t.Errorf("%q: %s %q", line, host, command)
		}
	}
}
