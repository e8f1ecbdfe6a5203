package slurm

import "github.com/vc-batch/vc/internal/slurm/layout"

// form is how sacct and sshare were asked to print.
func (c *call) form() layout.Form {
	f := layout.Form{Between: "|", Heading: !c.parsed.Has("noheader"), Parsable: c.parsed.Has("parsable") || c.parsed.Has("parsable2"), Closed: c.parsed.Has("parsable") && !c.parsed.Has("parsable2")}
	if text, ok := c.parsed.Last("delimiter"); ok {
		f.Between = text
	}
	return f
}
