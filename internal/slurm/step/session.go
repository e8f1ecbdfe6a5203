package step

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

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
	code := runWithEnvironment(ctx, h, args)
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
	return runWithEnvironment(ctx, h, args)
}

// runWithEnvironment runs a program with the script's environment and returns its exit code.
func runWithEnvironment(ctx context.Context, h *here, args []string) int {
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
