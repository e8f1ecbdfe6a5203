package real

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// vcctl runs vcctl as an administrator of the cluster and returns its standard output.
func vcctl(ctx context.Context, args ...string) (string, error) {
	return runProgram(ctx, "vcctl", args...)
}

// kubectl runs kubectl as an administrator of the cluster and returns its standard output.
func kubectl(ctx context.Context, args ...string) (string, error) {
	return runProgram(ctx, "kubectl", args...)
}

func runProgram(ctx context.Context, program string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, filepath.Join(os.Getenv(binVariable), program), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+shared.plane.KubeconfigPath(), "HOME="+shared.dir)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w: %s%s", program, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}
