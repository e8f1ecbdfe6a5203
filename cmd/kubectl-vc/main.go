// Command kubectl-vc runs vcctl as a kubectl plugin, for example as `kubectl vc job list`.
package main

import (
	"context"
	"os"
	_ "time/tzdata" // images contain no time zone data

	_ "k8s.io/client-go/plugin/pkg/client/auth"

	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/internal/dashboard"
)

func main() {
	os.Exit(root.Main(context.Background(), os.Args[0], os.Args[1:], iostreams.SystemStreams(), dashboard.AddToFactory))
}
