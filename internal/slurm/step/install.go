package step

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/jobclient"
	"github.com/vc-batch/vc/internal/slurm/step/podcommands"
)

// CommandNames lists the commands that a script can call. They are links to this program.
var CommandNames = append([]string{"srun", "scontrol", "squeue", "scancel", "sbcast", "sgather", "sattach", launchconfig.RshName}, podcommands.ClusterCommands...)

// InstallPrograms copies this program to a directory and creates links to it for all commands.
func InstallPrograms(args []string) error {
	if len(args) != 1 {
		return errors.New("install requires exactly one directory")
	}
	directory := args[0]
	if d := jobclient.NewDirectories(os.Getenv); d.ProgramDirectory() != "" && os.Getenv(jobclient.EnvVolumes) != "" {
		directory = d.ProgramDirectory()
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	target := filepath.Join(directory, "vc-step")
	if err := copyFile(own, target); err != nil {
		return err
	}
	for _, name := range CommandNames {
		link := filepath.Join(directory, name)
		_ = os.Remove(link)
		if err := os.Symlink("vc-step", link); err != nil {
			return err
		}
	}
	// The job's container, which may run as any user, writes its runtime files to this directory.
	run := filepath.Join(filepath.Dir(directory), "run")
	if err := os.MkdirAll(run, 0o777); err != nil {
		return err
	}
	return os.Chmod(run, 0o777)
}

// copyFile copies a program. It first writes a temporary file, so that an incomplete copy is never run.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}
