package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/internal/slurm/getopt"
)

// names lists the commands that a script can call. They are links to this program.
var names = append([]string{"srun", "scontrol", "squeue", "scancel", "sbcast", "sgather", "sattach", rshName}, clusterCommands...)

// Main runs the command with the name under which the program was called or, if that is vc-step, the command named by
// the first argument. It returns the exit code.
func Main(ctx context.Context, args []string) int {
	name := filepath.Base(args[0])
	rest := args[1:]
	if name == taskName && len(rest) > 1 {
		return becomeTask(rest)
	}
	if name == "vc-step" {
		if len(rest) == 0 {
			fmt.Fprintln(os.Stderr, "vc-step: error: this program runs only inside the pods of batch jobs; sbatch starts it")
			return 1
		}
		name, rest = rest[0], rest[1:]
	}
	if slices.Contains(clusterCommands, name) {
		return BecomeOutsideCommand(ctx, name, rest)
	}
	switch name {
	case "srun":
		return RunSrun(ctx, rest)
	case "scontrol":
		return RunScontrol(ctx, rest)
	case "squeue":
		return RunSqueue(ctx, rest)
	case "scancel":
		return RunScancel(ctx, rest)
	case "sbcast":
		return RunSbcast(ctx, rest)
	case "sgather":
		return RunSgather(ctx, rest)
	case "sattach":
		return RunSattach(ctx, rest)
	case rshName:
		return RunRsh(ctx, rest)
	case "launch":
		return RunLauncher(ctx)
	case "session":
		return RunSession(ctx, rest)
	case "enter":
		return RunInEnvironment(ctx, rest)
	case "signal":
		return RunSignal(ctx, rest)
	case "notify":
		return RunNotify(ctx, rest)
	case "limit":
		return RunLimit(ctx, rest)
	case "install":
		return reportError("vc-step", InstallPrograms(rest))
	}
	fmt.Fprintf(os.Stderr, "vc-step: error: unknown command %q: the commands are launch, session, enter, signal, notify, limit, install, %s\n", name, strings.Join(names, ", "))
	return 1
}

// slurmVersion is the version of Slurm whose behavior this program follows. Other programs check it.
const slurmVersion = "26.11.0"

// InstallPrograms copies this program to a directory and creates links to it for all commands.
func InstallPrograms(args []string) error {
	if len(args) != 1 {
		return errors.New("install requires exactly one directory")
	}
	directory := args[0]
	if d := newDirectories(os.Getenv); d.programDirectory() != "" && os.Getenv(envVolumes) != "" {
		directory = d.programDirectory()
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
	for _, name := range names {
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

// RunSession runs a program, or srun, for the user of an interactive allocation. When the program ends, the allocation
// ends with the program's exit code.
func RunSession(ctx context.Context, args []string) int {
	h, err := findHere()
	if err != nil {
		return reportError("vc-step", err)
	}
	w, err := h.sendToLauncher(ctx, request{Session: true})
	if err != nil {
		return reportError("vc-step", err)
	}
	defer w.Close()
	if err := w.receiveAnswer(nil, nil); err != nil {
		return reportError("vc-step", err)
	}
	code := h.runWithEnvironment(ctx, args)
	if err := h.queryHead(ctx, request{End: &endRequest{Code: code, Leave: true}}, nil); err != nil {
		return max(code, reportError("vc-step", err))
	}
	return code
}

// RunInEnvironment runs a program, or srun, with the environment of the job's script. It does not affect other
// processes of the job.
func RunInEnvironment(ctx context.Context, args []string) int {
	h, err := findHere()
	if err != nil {
		return reportError("vc-step", err)
	}
	return h.runWithEnvironment(ctx, args)
}

// runWithEnvironment runs a program with the script's environment and returns its exit code.
func (h *here) runWithEnvironment(ctx context.Context, args []string) int {
	var job jobAnswer
	w, err := h.sendToLauncher(ctx, request{Job: true})
	if err == nil {
		err = w.receiveAnswer(&job, nil)
		_ = w.Close()
	}
	if err != nil {
		return reportError("vc-step", err)
	}
	terminal := cmp.Or(os.Getenv("TERM"), "xterm")
	os.Clearenv()
	_ = os.Setenv("TERM", terminal)
	for _, entry := range job.Script {
		name, value, _ := strings.Cut(entry, "=")
		_ = os.Setenv(name, value)
	}
	if wanted := cmp.Or(job.Spec.WorkDir, job.Spec.SubmitDir); job.Spec.WorkDir == "" || os.Chdir(job.Spec.WorkDir) != nil {
		_ = os.Chdir("/")
		if wanted != "" && wanted != "/" {
			fmt.Fprintf(os.Stderr, "slurmstepd: error: couldn't chdir to `%s': not on a volume of this pod: going to / instead\n", wanted)
		}
	}
	if len(args) > 0 && args[0] == "srun" {
		return RunSrun(ctx, args[1:])
	}
	if len(args) == 0 {
		args = []string{findShell()}
	}
	program, err := lookPath(args[0], ".", job.Script)
	if err != nil {
		fmt.Fprintf(os.Stderr, "salloc: error: Unable to exec command %q\n", args[0])
		return codeNotFound
	}
	command := exec.CommandContext(ctx, program, args[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = command.Run()
	return endingOfState(command.ProcessState, err).shellStatus()
}

// findShell returns the path of a shell in the container.
func findShell() string {
	for _, path := range []string{os.Getenv("SHELL"), "/bin/bash"} {
		if info, err := os.Stat(path); path != "" && err == nil && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return "/bin/sh"
}

// signalTable lists the options of `vc-step signal`, which scancel runs in the pod.
var signalTable = getopt.Table{Program: "vc-step signal", Options: []getopt.Option{
	{Long: "signal", Short: 's', Arg: getopt.Required, Value: "name", Help: "signal to send"},
	{Long: "batch", Short: 'b', Help: "send the signal only to the script"},
	{Long: "full", Short: 'f', Help: "send the signal to the script and the steps"},
	{Long: "step", Arg: getopt.Required, Value: "n", Help: "send the signal to one step"},
}}

// RunSignal sends a signal to the script or to steps.
func RunSignal(ctx context.Context, args []string) int {
	p, err := signalTable.ParseArguments(args)
	if err != nil {
		return reportError("vc-step", err)
	}
	text, _ := p.LastValue("signal")
	step, _ := p.LastValue("step")
	r, err := newSignalRequest(text, step, p.Has("batch"), p.Has("full"))
	if err != nil {
		return reportError("vc-step", err)
	}
	r.Now = true
	h, err := findHere()
	if err == nil {
		err = h.queryHead(ctx, request{Signal: r}, nil)
	}
	return reportError("vc-step", err)
}

// RunNotify writes a message to the script's error output.
func RunNotify(ctx context.Context, words []string) int {
	h, err := findHere()
	if err == nil {
		err = h.queryHead(ctx, request{Notify: strings.Join(words, " ")}, nil)
	}
	return reportError("vc-step", err)
}

// RunLimit sets the job's time limit, in seconds.
func RunLimit(ctx context.Context, words []string) int {
	if len(words) != 1 {
		return reportError("vc-step", errors.New("limit requires a number of seconds"))
	}
	seconds, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil || seconds <= 0 {
		return reportError("vc-step", fmt.Errorf("limit: %q is not a number of seconds", words[0]))
	}
	h, err := findHere()
	if err == nil {
		err = h.queryHead(ctx, request{Limit: seconds}, nil)
	}
	return reportError("vc-step", err)
}

// interpreterOf returns the interpreter in the first line of a script.
func interpreterOf(line string) string {
	line, ok := strings.CutPrefix(line, "#!")
	if !ok {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	if len(words) == 0 {
		return ""
	}
	return words[0]
}
