package listing

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/usererror"
)

// repeatInterval returns the interval requested with -i, or 0 if squeue prints only once.
func repeatInterval(c *program.Call) (time.Duration, error) {
	text, ok := c.Parsed.LastValue("iterate")
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || n > 1<<30 {
		return 0, usererror.Errorf("specify at least 1 second, for example -i 5", "Invalid numeric value %q for --iterate.", text)
	}
	return time.Duration(n) * time.Second, nil
}

// printRepeatedly calls printOne for each cluster once or, with -i, repeatedly with an empty line between the outputs.
// With -M and titled, it prints the name of each cluster before the cluster's output. After the first output, errors
// are printed and do not end the loop.
func printRepeatedly(ctx context.Context, c *program.Call, titled bool, printOne func(one *program.Call) error) error {
	again, err := repeatInterval(c)
	if err != nil {
		return err
	}
	printAll := func() error {
		return c.InClustersParallel("\n", func(one *program.Call, named bool) error {
			if named && titled {
				fmt.Fprintf(one.Factory.Streams.Out, "CLUSTER: %s\n", one.ClusterName())
			}
			return printOne(one)
		})
	}
	if err := printAll(); err != nil || again == 0 {
		return err
	}
	ticker := time.NewTicker(again)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			fmt.Fprintln(c.Factory.Streams.Out)
			if err := printAll(); err != nil && ctx.Err() == nil {
				_ = c.PrintError(err) // the next attempt may succeed
			}
		}
	}
}
