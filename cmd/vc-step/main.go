// Command vc-step is what runs inside the pods of batch jobs: the launcher of the script, the agent that runs steps, and, by those names, srun,
// scontrol, squeue and scancel.
package main

import (
	"context"
	"os"

	"github.com/vc-batch/vc/internal/slurm/step"
)

func main() { os.Exit(step.Main(context.Background(), os.Args)) }
