package submit_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// TestProgramsThatSubmit checks scripts and command lines in the format that these programs generate, and the parts of
// the output that they parse. The texts are our own.
func TestProgramsThatSubmit(t *testing.T) {
	t.Parallel()
	submitted := regexp.MustCompile(`(?m)^Submitted batch job (\d+)$`)
	number := regexp.MustCompile(`^(\d+)(;.*)?\n$`)
	for name, c := range map[string]struct {
		script string
		args   []string
		answer *regexp.Regexp
	}{
		"Nextflow": {"#!/bin/bash\n#SBATCH -J nf-align_(1)\n#SBATCH -o /dev/null\n#SBATCH --no-requeue\n#SBATCH --signal B:USR2@30\n#SBATCH -c 4\n#SBATCH -t 01:30:00\n#SBATCH --mem 8192M\n#SBATCH -p research\nset -e\ntrue\n", nil, submitted},
		"Snakemake": {"", []string{"--parsable", "--job-name", "6f1c2a4e-0b5d-4c88-9a51-2a7d35c0e9aa", "--output=/dev/null", "--export=ALL", "--comment", "rule_align_wildcards_a", "-p", "research", "-t", "60", "--mem", "1000",
			"--ntasks=1", "--cpus-per-task=2", "--wrap=python -m snakemake --snakefile Snakefile --target-jobs 'align:sample=a' --cores all"}, number},
		"submitit": {"#!/bin/bash\n\n# Parameters\n#SBATCH --array=0-9%256\n#SBATCH --cpus-per-task=2\n#SBATCH --error=/dev/null\n#SBATCH --gpus-per-node=1\n#SBATCH --job-name=submitit\n#SBATCH --mem=4GB\n#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=1\n" +
			"#SBATCH --open-mode=append\n#SBATCH --output=/dev/null\n#SBATCH --partition=research\n#SBATCH --signal=USR1@90\n#SBATCH --time=60\n#SBATCH --wckey=submitit\n\n# command\nexport SUBMITIT_EXECUTOR=slurm\nsrun --output /logs/%A_%a_%t_log.out --error /logs/%A_%a_%t_log.err --unbuffered python -u -m submitit.core._submit /logs\n", nil, submitted},
		"dask-jobqueue":     {"#!/usr/bin/env bash\n\n#SBATCH -J dask-worker\n#SBATCH -e /dev/null\n#SBATCH -o /dev/null\n#SBATCH -p research\n#SBATCH -A nlp\n#SBATCH -n 1\n#SBATCH --cpus-per-task=4\n#SBATCH --mem=15G\n#SBATCH -t 00:30:00\nJOB_ID=${SLURM_JOB_ID%;*}\n\npython -m distributed.cli.dask_worker tcp://10.0.0.1:1234 --name dummy\n", nil, submitted},
		"Lightning":         {"#!/bin/bash -l\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:2\n#SBATCH --ntasks-per-node=2\n#SBATCH --mem=0 --exclusive\n#SBATCH --time=0-02:00:00\n#SBATCH --signal=SIGUSR1@90\n#SBATCH -o /dev/null\nexport NCCL_DEBUG=INFO\nsrun python3 train.py\n", nil, submitted},
		"a weather model's": {"#!/bin/bash\n#SBATCH --job-name=Neural\n#SBATCH --nodes=2 --ntasks-per-node=4 --gres=gpu:4\n#SBATCH --time=24:00:00\n#SBATCH --output=/dev/null\n#SBATCH --no-requeue --exclusive\nexport MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nsrun -ul python -m neural.train\n", nil, submitted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			slurmtest.AddProfile(server)
			got := golden.Run{Argv: append([]string{"slurm", "sbatch"}, c.args...), Input: c.script, Env: map[string]string{"PATH": "/bin", "LANG": "C"}}.RunAgainst(t, server)
			found := c.answer.FindStringSubmatch(got.Out)
			if got.Code != 0 || found == nil || found[1] != "43" {
				t.Fatalf("exit %d: %s%s", got.Code, got.Out, got.Err)
			}
			if strings.Contains(got.Err, "error") || strings.Contains(got.Err, "submission failed") {
				t.Errorf("it says: %s", got.Err)
			}
		})
	}
}
