package request

import (
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

var fileOptions = grouped("Files",
	Option{Option: need("output", 'o', "FILE", "Where output goes; default slurm-%j.out"), Env: "OUTPUT", On: all, set: text(func(r *Request) *string { return &r.Output })},
	Option{Option: need("error", 'e', "FILE", "Where errors go; default with the output"), Env: "ERROR", On: all, set: text(func(r *Request) *string { return &r.Error })},
	Option{Option: need("input", 'i', "FILE", "Where input comes from; default /dev/null"), Env: "INPUT", On: all, set: text(func(r *Request) *string { return &r.Input })},
	Option{Option: need("open-mode", 0, "append|truncate", "What becomes of a file that is there"), Env: "OPEN_MODE", On: Sbatch | Srun, set: setOpenMode},
	Option{Option: need("chdir", 'D', "DIR", "Directory to start in; it must be on a volume of the profile"), Env: "CHDIR", set: text(func(r *Request) *string { return &r.Chdir })},
)

var environmentOptions = grouped("Environment",
	Option{Option: need("export", 0, "ALL|NONE|VAR[=V],…", "Variables that the script gets"), Env: "EXPORT", On: Sbatch | Srun, set: text(func(r *Request) *string { return &r.Export })},
	Option{Option: need("export-file", 0, "FILE", "Variables that the script gets, in a file: NAME=value, each ended by a NUL"), Env: "EXPORT_FILE", On: Sbatch, set: text(func(r *Request) *string { return &r.ExportFile })},
)

var containerOptions = grouped("Container",
	Option{Option: need("container-image", 0, "IMAGE", "Image: registry#name:tag or registry/name:tag"), Env: "CONTAINER_IMAGE", set: text(func(r *Request) *string { return &r.Image })},
	Option{Option: need("container-mounts", 0, "SRC:DST[:ro],…", "Directories of the profile's volumes, at other places"), Env: "CONTAINER_MOUNTS", set: text(func(r *Request) *string { return &r.Mounts })},
	Option{Option: need("container-workdir", 0, "DIR", "Directory to start in, in the container"), Env: "CONTAINER_WORKDIR", set: text(func(r *Request) *string { return &r.ContainerWorkdir })},
	Option{Option: flag("container-mount-home", 0, "Mount the home directory (the profile does)"), set: func(r *Request, _ string, _ bool) error { r.home(false); return nil }},
	Option{Option: flag("no-container-mount-home", 0, "Do without the volume that the home directory is on"), set: func(r *Request, _ string, _ bool) error { r.home(true); return nil }},
	Option{Option: flag("container-entrypoint", 0, "Run the image's entrypoint first"), Class: Refused, Why: "the script's interpreter is what a pod runs"},
	Option{Option: flag("no-container-entrypoint", 0, "Run the script alone"), set: accept},
)

var commandOptions = grouped("The command",
	alias("cluster", "clusters", getopt.Required),
	Option{Option: need("clusters", 'M', "CONTEXT", "Cluster to submit to: a context of the kubeconfig"), Env: "CLUSTERS", set: text(func(r *Request) *string { return &r.Clusters })},
	Option{Option: flag("wait", 'W', "Wait for the end, and exit as the job did"), Env: "WAIT", On: Sbatch, set: on(func(r *Request) *bool { return &r.Wait })},
	Option{Option: flag("parsable", 0, "Print the number alone"), On: Sbatch, set: on(func(r *Request) *bool { return &r.Parsable })},
	Option{Option: flag("test-only", 0, "Say when it would start, and submit nothing"), set: on(func(r *Request) *bool { return &r.TestOnly })},
	Option{Option: need("wrap", 0, "COMMAND", "Run a command line of sh in place of a script"), On: Sbatch, set: text(func(r *Request) *string { return &r.Wrap })},
	Option{Option: flag("quiet", 'Q', "Print errors only"), On: all, set: on(func(r *Request) *bool { return &r.Quiet })},
	Option{Option: flag("verbose", 'v', "Say more about what is done"), On: all, set: func(r *Request, _ string, _ bool) error { r.Verbose++; return nil }},
	Option{Option: flag("ignore-pbs", 0, "Lines of PBS are comments, as they always are here"), Env: "IGNORE_PBS", On: Sbatch, set: accept},
	Option{Option: exactFlag("strict", "Refuse what has no effect (not of Slurm)"), set: on(func(r *Request) *bool { return &r.Strict })},
	Option{Option: need("mpi", 0, "TYPE", "How MPI programs are started: none, or mpirun in the script"), Env: "MPI_TYPE", On: Srun | Sbatch, set: setMPI},
)

// accept is the setter of an option that requests the default behaviour.
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
		return invalid("open-mode", &optionvalue.Bad{Hint: "append or truncate"})
	}
	return nil
}

func setMPI(r *Request, text string, _ bool) error {
	switch {
	case text == "none", text == "ssh", text == "list" && r.Command == Srun:
		r.MPI = text
		return nil
	}
	return invalid("mpi", &optionvalue.Bad{Hint: "use mpirun, or srun --mpi=none: " + text + " is not supported here"})
}
