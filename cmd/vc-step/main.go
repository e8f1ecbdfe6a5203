// Command vc-step runs inside the pods of batch jobs: as launcher of the script, as agent that runs steps, and, when
// called by these names, as srun, scontrol, squeue and scancel.
package main

import (
	"context"
	"os"

	"github.com/vc-batch/vc/internal/slurm/step"
)

func main() { os.Exit(step.Main(context.Background(), os.Args)) }
