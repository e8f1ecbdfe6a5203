// Command vc-step runs inside the pods of batch jobs: as the launcher that runs the script, as the agent that runs
// steps, and, under these names, as srun, scontrol, squeue and scancel.
package main

import (
	"context"
	"os"

	"github.com/vc-batch/vc/internal/slurm/step"
)

func main() { os.Exit(step.Main(context.Background(), os.Args)) }
