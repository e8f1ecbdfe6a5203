package slurm

import "github.com/vc-batch/vc/internal/slurm/tableformat"

// outputForm returns the output format that the options of sacct or sshare select.
func (c *call) outputForm() tableformat.Form {
	f := tableformat.Form{Between: "|", Heading: !c.parsed.Has("noheader"), Parsable: c.parsed.Has("parsable") || c.parsed.Has("parsable2"), Closed: c.parsed.Has("parsable") && !c.parsed.Has("parsable2")}
	if text, ok := c.parsed.LastValue("delimiter"); ok {
		f.Between = text
	}
	return f
}
