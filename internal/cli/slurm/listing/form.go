package listing

import (
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
)

// outputForm returns the output format that the options of sacct or sshare select.
func outputForm(c *program.Call) tableformat.Form {
	f := tableformat.Form{Between: "|", Heading: !c.Parsed.Has("noheader"), Parsable: c.Parsed.Has("parsable") || c.Parsed.Has("parsable2"), Closed: c.Parsed.Has("parsable") && !c.Parsed.Has("parsable2")}
	if text, ok := c.Parsed.LastValue("delimiter"); ok {
		f.Between = text
	}
	return f
}
