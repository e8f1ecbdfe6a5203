package request

import (
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

var fileOptions = setGroup("Files",
	Option{Option: newRequired("output", 'o', "FILE", "File for standard output (default slurm-%j.out)"), Env: "OUTPUT", On: all, set: storeText(func(r *Request) *string { return &r.Output })},
	Option{Option: newRequired("error", 'e', "FILE", "File for standard error (default: same as the output)"), Env: "ERROR", On: all, set: storeText(func(r *Request) *string { return &r.Error })},
	Option{Option: newRequired("input", 'i', "FILE", "File for standard input (default /dev/null)"), Env: "INPUT", On: all, set: storeText(func(r *Request) *string { return &r.Input })},
	Option{Option: newRequired("open-mode", 0, "append|truncate", "Mode for existing output files"), Env: "OPEN_MODE", On: Sbatch | Srun, set: setOpenMode},
	Option{Option: newRequired("chdir", 'D', "DIR", "Working directory; must be on a volume from the profile"), Env: "CHDIR", set: storeText(func(r *Request) *string { return &r.Chdir })},
)

var environmentOptions = setGroup("Environment",
	Option{Option: newRequired("export", 0, "ALL|NONE|VAR[=V],…", "Environment variables to pass to the script"), Env: "EXPORT", On: Sbatch | Srun, set: storeText(func(r *Request) *string { return &r.Export })},
	Option{Option: newRequired("export-file", 0, "FILE", "File with environment variables: NAME=value, each terminated by a NUL"), Env: "EXPORT_FILE", On: Sbatch, set: storeText(func(r *Request) *string { return &r.ExportFile })},
)

var containerOptions = setGroup("Container",
	Option{Option: newRequired("container-image", 0, "IMAGE", "Container image: registry#name:tag or registry/name:tag"), Env: "CONTAINER_IMAGE", set: storeText(func(r *Request) *string { return &r.Image })},
	Option{Option: newRequired("container-mounts", 0, "SRC:DST[:ro],…", "Mount directories of the profile's volumes at other paths"), Env: "CONTAINER_MOUNTS", set: storeText(func(r *Request) *string { return &r.Mounts })},
	Option{Option: newRequired("container-workdir", 0, "DIR", "Working directory in the container"), Env: "CONTAINER_WORKDIR", set: storeText(func(r *Request) *string { return &r.ContainerWorkdir })},
	Option{Option: newFlag("container-mount-home", 0, "Mount the home directory (default if the profile has a volume for it)"), set: func(r *Request, _ string, _ bool) error { r.setMountHome(false); return nil }},
	Option{Option: newFlag("no-container-mount-home", 0, "Do not mount the home directory"), set: func(r *Request, _ string, _ bool) error { r.setMountHome(true); return nil }},
	Option{Option: newFlag("container-entrypoint", 0, "Run the image's entrypoint first"), Class: Refused, Why: "a pod always runs the script's interpreter directly"},
	Option{Option: newFlag("no-container-entrypoint", 0, "Do not run the image's entrypoint (default)"), set: acceptDefault},
)

var commandOptions = setGroup("Command",
	newAlias("cluster", "clusters", getopt.Required),
	Option{Option: newRequired("clusters", 'M', "CONTEXT", "Cluster to submit to: a kubeconfig context"), Env: "CLUSTERS", set: storeText(func(r *Request) *string { return &r.Clusters })},
	Option{Option: newFlag("wait", 'W', "Wait until the job ends, and exit with its exit code"), Env: "WAIT", On: Sbatch, set: storeTrue(func(r *Request) *bool { return &r.Wait })},
	Option{Option: newFlag("parsable", 0, "Print only the job number"), On: Sbatch, set: storeTrue(func(r *Request) *bool { return &r.Parsable })},
	Option{Option: newFlag("test-only", 0, "Print the estimated start time without submitting the job"), set: storeTrue(func(r *Request) *bool { return &r.TestOnly })},
	Option{Option: newRequired("wrap", 0, "COMMAND", "Run a shell command line instead of a script"), On: Sbatch, set: storeText(func(r *Request) *string { return &r.Wrap })},
	Option{Option: newFlag("quiet", 'Q', "Print only errors"), On: all, set: storeTrue(func(r *Request) *bool { return &r.Quiet })},
	Option{Option: newFlag("verbose", 'v', "Print more details"), On: all, set: func(r *Request, _ string, _ bool) error { r.Verbose++; return nil }},
	Option{Option: newFlag("ignore-pbs", 0, "Ignore #PBS lines (default)"), Env: "IGNORE_PBS", On: Sbatch, set: acceptDefault},
	Option{Option: newExactFlag("strict", "Reject options that have no effect (not a Slurm option)"), set: storeTrue(func(r *Request) *bool { return &r.Strict })},
	Option{Option: newRequired("mpi", 0, "TYPE", "MPI type: none; to use MPI, run mpirun in the script"), Env: "MPI_TYPE", On: Srun | Sbatch, set: setMPI},
)

// acceptDefault is the setter for options that request the default behavior.
func acceptDefault(*Request, string, bool) error { return nil }

// setMountHome sets --no-container-mount-home or its opposite. If both are specified, the later one takes precedence.
func (r *Request) setMountHome(without bool) {
	r.NoHome = without
	if without {
		delete(r.Given, "container-mount-home")
	} else {
		delete(r.Given, "no-container-mount-home")
	}
}

func setOpenMode(r *Request, text string, _ bool) error {
	switch strings.ToLower(text) {
	case "append", "a":
		r.Append = true
	case "truncate", "t":
		r.Append = false
	default:
		return invalidValueError("open-mode", &optionvalue.Bad{Hint: "use append or truncate"})
	}
	return nil
}

func setMPI(r *Request, text string, _ bool) error {
	switch {
	case text == "none", text == "ssh", text == "list" && r.Command == Srun:
		r.MPI = text
		return nil
	}
	return invalidValueError("mpi", &optionvalue.Bad{Hint: "use mpirun, or srun --mpi=none; " + text + " is not supported here"})
}
