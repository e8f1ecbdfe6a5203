// Command vcd is the daemon of the batch system. It runs the scheduler, the controllers, the admission webhooks, or all
// of them in one process.
package main

import (
	_ "time/tzdata" // images contain no time zone data

	"github.com/vc-batch/vc/cmd/vcd/app"
)

func main() { app.Main() }
