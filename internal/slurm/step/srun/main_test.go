package srun_test

import (
	"testing"

	"github.com/vc-batch/vc/internal/slurm/step/steptest"
)

func TestMain(m *testing.M) { steptest.Main(m) }
