package request

import (
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

var fileOptions = grouped("Files",
	Option{Option: need("output", 'o', "FILE", "File for standard output (default slurm-%j.out)"), Env: "OUTPUT", On: all, set: text(func(r *Request) *string { return &r.Output })},
	Option{Option: need("error", 'e', "FILE", "File for standard error (default: same as the output)"), Env: "ERROR", On: all, set: text(func(r *Request) *string { return &r.Error })},
	Option{Option: need("input", 'i', "FILE", "File for standard input (default /dev/null)"), Env: "INPUT", On: all, set: text(func(r *Request) *string { return &r.Input })},
	Option{Option: need("open-mode", 0, "append|truncate", "Mode for existing output files"), Env: "OPEN_MODE", On: Sbatch | Srun, set: setOpenMode},
	Option{Option: need("chdir", 'D', "DIR", "Working directory; it must be on a volume of the profile"), Env: "CHDIR", set: text(func(r *Request) *string { return &r.Chdir })},
)

var environmentOptions = grouped("Environment",
	Option{Option: need("export", 0, "ALL|NONE|VAR[=V],…", "Environment variables to pass to the script"), Env: "EXPORT", On: Sbatch | Srun, set: text(func(r *Request) *string { return &r.Export })},
	Option{Option: need("export-file", 0, "FILE", "File with environment variables: NAME=value, each terminated by a NUL"), Env: "EXPORT_FILE", On: Sbatch, set: text(func(r *Request) *string { return &r.ExportFile })},
)

var containerOptions = grouped("Container",
	Option{Option: need("container-image", 0, "IMAGE", "Container image: registry#name:tag or registry/name:tag"), Env: "CONTAINER_IMAGE", set: text(func(r *Request) *string { return &r.Image })},
	Option{Option: need("container-mounts", 0, "SRC:DST[:ro],…", "Mount directories of the profile's volumes at other paths"), Env: "CONTAINER_MOUNTS", set: text(func(r *Request) *string { return &r.Mounts })},
	Option{Option: need("container-workdir", 0, "DIR", "Working directory in the container"), Env: "CONTAINER_WORKDIR", set: text(func(r *Request) *string { return &r.ContainerWorkdir })},
	Option{Option: flag("container-mount-home", 0, "Mount the home directory (default if the profile has a volume for it)"), set: func(r *Request, _ string, _ bool) error { r.home(false); return nil }},
	Option{Option: flag("no-container-mount-home", 0, "Do not mount the volume of the home directory"), set: func(r *Request, _ string, _ bool) error { r.home(true); return nil }},
	Option{Option: flag("container-entrypoint", 0, "Run the image's entrypoint first"), Class: Refused, Why: "a pod always runs the script's interpreter directly"},
	Option{Option: flag("no-container-entrypoint", 0, "Do not run the image's entrypoint (default)"), set: accept},
)

var commandOptions = grouped("Command",
	alias("cluster", "clusters", getopt.Required),
	Option{Option: need("clusters", 'M', "CONTEXT", "Cluster to submit to: a context of the kubeconfig"), Env: "CLUSTERS", set: text(func(r *Request) *string { return &r.Clusters })},
	Option{Option: flag("wait", 'W', "Wait until the job ends, and exit with its exit code"), Env: "WAIT", On: Sbatch, set: on(func(r *Request) *bool { return &r.Wait })},
	Option{Option: flag("parsable", 0, "Print only the job number"), On: Sbatch, set: on(func(r *Request) *bool { return &r.Parsable })},
	Option{Option: flag("test-only", 0, "Print the estimated start without submitting the job"), set: on(func(r *Request) *bool { return &r.TestOnly })},
	Option{Option: need("wrap", 0, "COMMAND", "Run a shell command line instead of a script"), On: Sbatch, set: text(func(r *Request) *string { return &r.Wrap })},
	Option{Option: flag("quiet", 'Q', "Print only errors"), On: all, set: on(func(r *Request) *bool { return &r.Quiet })},
	Option{Option: flag("verbose", 'v', "Print more details"), On: all, set: func(r *Request, _ string, _ bool) error { r.Verbose++; return nil }},
	Option{Option: flag("ignore-pbs", 0, "Ignore #PBS lines (default)"), Env: "IGNORE_PBS", On: Sbatch, set: accept},
	Option{Option: exactFlag("strict", "Reject options without effect (not a Slurm option)"), set: on(func(r *Request) *bool { return &r.Strict })},
	Option{Option: need("mpi", 0, "TYPE", "MPI support: none; use mpirun in the script"), Env: "MPI_TYPE", On: Srun | Sbatch, set: setMPI},
)

// accept is the setter for options that request the default behavior.
func accept(*Request, string, bool) error { return nil }

// home sets --no-container-mount-home or its opposite; the later one takes precedence.
func (r *Request) home(without bool) {
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
		return invalid("open-mode", &optionvalue.Bad{Hint: "use append or truncate"})
	}
	return nil
}

func setMPI(r *Request, text string, _ bool) error {
	switch {
	case text == "none", text == "ssh", text == "list" && r.Command == Srun:
		r.MPI = text
		return nil
	}
	return invalid("mpi", &optionvalue.Bad{Hint: "use mpirun, or srun --mpi=none; " + text + " is not supported here"})
}
