package step

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// EnvDir is the variable that contains the tools directory, if the program vc-step is not installed in
// launchconfig.ToolsDir.
const EnvDir = "VC_STEP_DIR"

// envVolumes is set on process nodes that cannot mount volumes. Its value is the directory that contains the pod's
// volumes by name.
const envVolumes = "VC_VOLUMES"

// directories holds the paths that vc-step uses in this pod.
type directories struct {
	tools, spec, secret string
	termination         string
}

// newDirectories returns the directories for an environment. The program vc-step is in the directory bin below tools.
func newDirectories(env func(string) string) directories {
	d := directories{tools: launchconfig.ToolsDir, spec: launchconfig.SpecDir, secret: launchconfig.SecretDir, termination: "/dev/termination-log"}
	if volumes := env(envVolumes); volumes != "" {
		d.tools, d.spec, d.secret = filepath.Join(volumes, launchconfig.ToolsVolume), filepath.Join(volumes, launchconfig.JobVolume), filepath.Join(volumes, launchconfig.SecretVolume)
	}
	if tools := env(EnvDir); tools != "" {
		d.tools, d.termination = tools, filepath.Join(tools, "run", "termination-log")
	}
	return d
}

func (d directories) programDirectory() string { return filepath.Join(d.tools, "bin") }
func (d directories) socketPath() string       { return filepath.Join(d.tools, "run", "agent.sock") }
func (d directories) scriptPath() string       { return filepath.Join(d.tools, "run", "slurm_script") }
func (d directories) hostfilePath() string     { return filepath.Join(d.tools, "run", "hostfile") }

// readSpec reads the launcher's description of the job.
func (d directories) readSpec() (launchconfig.Spec, error) {
	var spec launchconfig.Spec
	text, err := os.ReadFile(filepath.Join(d.spec, launchconfig.SpecKey))
	if err != nil {
		return spec, fmt.Errorf("read the description of this job: %w", err)
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		return spec, fmt.Errorf("%s: %w", filepath.Join(d.spec, launchconfig.SpecKey), err)
	}
	return spec, nil
}

// podStart returns the time from which Kubernetes counts the pod's run time, which is before its images were pulled. It
// is the creation time of the tools directory or, on systems that do not record it, the time when vc-step was
// installed there.
func (d directories) podStart(now time.Time) time.Time {
	at := now
	var made unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, d.tools, 0, unix.STATX_BTIME, &made) == nil && made.Mask&unix.STATX_BTIME != 0 {
		at = time.Unix(made.Btime.Sec, int64(made.Btime.Nsec))
	} else if info, err := os.Stat(filepath.Join(d.programDirectory(), "vc-step")); err == nil {
		at = info.ModTime()
	}
	if at.After(now) {
		return now
	}
	return at
}

// readIdentity reads the job's key. It returns nil if the job has no key.
func (d directories) readIdentity() (*tls.Config, error) {
	key, err := os.ReadFile(filepath.Join(d.secret, launchconfig.StepKey))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return newIdentity(string(key))
}

// readExported reads the environment that was submitted together with the job.
func (d directories) readExported() []string {
	text, err := os.ReadFile(filepath.Join(d.secret, launchconfig.EnvironmentKey))
	if err != nil {
		return nil
	}
	return launchconfig.SplitEnvironment(text)
}
