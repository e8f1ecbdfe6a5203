// Command vcd-licences is vcd with an additional policy: licence.
package main

import (
	"example.com/custom-policy/licence"

	"github.com/vc-batch/vc/cmd/vcd/app"
)

func main() { app.Main(app.WithPolicy("licence", licence.New)) }
