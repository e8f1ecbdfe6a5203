package podcommands_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/vc-batch/vc/test/steptest"
)

// inCluster gives a job access to the cluster, and a vcctl that prints its own command line.
func inCluster(p *steptest.Pod) {
	p.T.Helper()
	p.Spec.ServiceAccount, p.Spec.Program = "slurm-job", filepath.Join(p.Dir, "vcctl")
	if err := os.WriteFile(p.Spec.Program, []byte("#!/bin/sh\necho \"$0\" | sed s,.*/,,\necho \"$* $KUBECONFIG\"\n"), 0o755); err != nil {
		p.T.Fatal(err)
	}
}

func TestCommandsAboutTheClusterAreVcctls(t *testing.T) {
	t.Parallel()
	outside := func(words string) string { return "vcctl\n" + words + " /dev/null\n" }
	cases := map[string]struct{ Command, want string }{
		"sbatch":                      {"sbatch -N2 x.sh", outside("slurm sbatch -N2 x.sh")},
		"sbatch with a kubeconfig":    {"KUBECONFIG=/k sbatch x.sh", "vcctl\nslurm sbatch x.sh /k\n"},
		"sacct":                       {"sacct -j $SLURM_JOB_ID", outside("slurm sacct -j 42")},
		"sinfo":                       {"sinfo -h", outside("slurm sinfo -h")},
		"squeue of all jobs":          {"squeue", outside("slurm squeue")},
		"squeue of another job":       {"squeue -j 43", outside("slurm squeue -j 43")},
		"squeue of steps":             {"squeue -s", outside("slurm squeue -s")},
		"squeue of the own job":       {"squeue -h -o %i.%t -j $SLURM_JOB_ID", "42.R\n"},
		"scontrol show node":          {"scontrol show node n1", outside("slurm scontrol show node n1")},
		"scontrol show another job":   {"scontrol show job 43", outside("slurm scontrol show job 43")},
		"scontrol show the own job":   {"scontrol show job $SLURM_JOB_ID | grep -o 'Command=.*'", "Command=(null)\n"},
		"scontrol show hostnames":     {"scontrol show hostnames 'n[1-2]'", "n1\nn2\n"},
		"scontrol update":             {"scontrol update jobid=43 name=x", outside("slurm scontrol update jobid=43 name=x")},
		"scontrol requeue of another": {"scontrol requeue 43", outside("slurm scontrol requeue 43")},
		"scancel of another job":      {"scancel 43", outside("slurm scancel 43")},
		"scancel of the own step":     {"scancel $SLURM_JOB_ID.9 2>&1 | head -n1", "scancel: error: Kill job error on job id 42.9: Invalid job id specified\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, "#!/bin/bash\nunset KUBECONFIG\n"+c.Command+"\n", inCluster)
			if code != 0 || p.Out.String() != c.want {
				t.Errorf("exit %d: %q, want %q\n%s", code, p.Out.String(), c.want, p.Err.String())
			}
		})
	}
}

func TestCommandsAboutTheClusterSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*steptest.Pod)
		want   string
	}{
		"rights": {func(*steptest.Pod) {}, "sbatch: error: the pods of this job have no permissions in the cluster\n" +
			"sbatch: hint: run the command on the host where the job was submitted, or ask an administrator to set serviceAccount in the ConfigMap slurm-profile\n"},
		"the program": {func(p *steptest.Pod) { p.Spec.ServiceAccount = "slurm-job" }, "sbatch: error: vcctl is not installed in this pod, but this command needs it to access the cluster\n" +
			"sbatch: hint: add the program to the job's image, or to a directory in PATH on a shared volume\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, "#!/bin/bash\nPATH=${PATH%%:*}\nsbatch x.sh\n", c.change)
			if code != 1 || p.Err.String() != c.want {
				t.Errorf("exit %d: %q, want %q", code, p.Err.String(), c.want)
			}
		})
	}
}

func TestTheOwnJobsCommandIsTheScriptThatWasSubmitted(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/bash\nscontrol show job $SLURM_JOB_ID | awk -F= '/Command=/{print $2}'\n", func(p *steptest.Pod) { p.Spec.Command = "/home/mei/run.sh" })
	if code != 0 || p.Out.String() != "/home/mei/run.sh\n" {
		t.Errorf("%d %q %s", code, p.Out.String(), p.Err.String())
	}
}
