package app

import (
	"bytes"
	"testing"

	"github.com/vc-batch/vc/internal/build"
)

func TestVersionPrintsWhatTheProgramWasBuiltFrom(t *testing.T) {
	t.Parallel()
	for _, argument := range []string{"version", "--version"} {
		var out bytes.Buffer
		cmd := NewCommand()
		cmd.SetOut(&out)
		cmd.SetArgs([]string{argument})
		if err := cmd.ExecuteContext(t.Context()); err != nil || out.String() != build.DescribeProgram().String() {
			t.Errorf("vcd %s: error %v, output:\n%s", argument, err, &out)
		}
	}
}
