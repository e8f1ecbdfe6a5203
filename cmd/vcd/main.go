// Command vcd is the daemon of the batch system: scheduler, controllers and
// admission, one of them or all in one process.
package main

import "github.com/vc-batch/vc/cmd/vcd/app"

func main() { app.Main() }
