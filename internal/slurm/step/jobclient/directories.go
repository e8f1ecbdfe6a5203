package jobclient

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
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
)

// EnvDir is the environment variable that contains the tools directory, if this is not launchconfig.ToolsDir.
const EnvDir = "VC_STEP_DIR"

// EnvVolumes is the environment variable that is set on process nodes that cannot mount volumes. Its value is the
// directory that contains the pod's volumes by name.
const EnvVolumes = "VC_VOLUMES"

// Directories holds the paths that vc-step uses in this pod.
type Directories struct {
	tools, Spec, secret string
	Termination         string
}

// NewDirectories returns the directories that an environment specifies. vc-step is in the directory bin below tools.
func NewDirectories(env func(string) string) Directories {
	d := Directories{tools: launchconfig.ToolsDir, Spec: launchconfig.SpecDir, secret: launchconfig.SecretDir, Termination: "/dev/termination-log"}
	if volumes := env(EnvVolumes); volumes != "" {
		d.tools, d.Spec, d.secret = filepath.Join(volumes, launchconfig.ToolsVolume), filepath.Join(volumes, launchconfig.JobVolume), filepath.Join(volumes, launchconfig.SecretVolume)
	}
	if tools := env(EnvDir); tools != "" {
		d.tools, d.Termination = tools, filepath.Join(tools, "run", "termination-log")
	}
	return d
}

// ProgramDirectory returns the directory that contains vc-step and the links to it.
func (d Directories) ProgramDirectory() string { return filepath.Join(d.tools, "bin") }

// SocketPath returns the path of the socket of the pod's agent.
func (d Directories) SocketPath() string { return filepath.Join(d.tools, "run", "agent.sock") }

// ScriptPath returns the path of the executable copy of the script.
func (d Directories) ScriptPath() string { return filepath.Join(d.tools, "run", "slurm_script") }

// HostfilePath returns the path of the file that lists the job's hosts for MPI libraries.
func (d Directories) HostfilePath() string { return filepath.Join(d.tools, "run", "hostfile") }

// ReadSpec reads the launcher's description of the job.
func (d Directories) ReadSpec() (launchconfig.Spec, error) {
	var spec launchconfig.Spec
	text, err := os.ReadFile(filepath.Join(d.Spec, launchconfig.SpecKey))
	if err != nil {
		return spec, fmt.Errorf("read the job description: %w", err)
	}
	if err := json.Unmarshal(text, &spec); err != nil {
		return spec, fmt.Errorf("%s: %w", filepath.Join(d.Spec, launchconfig.SpecKey), err)
	}
	return spec, nil
}

// PodStart returns the time from which Kubernetes counts the pod's run time, which is before the pod's images are
// pulled. It uses the creation time of the tools directory or, on systems that do not record this time, the time when
// vc-step was installed there.
func (d Directories) PodStart(now time.Time) time.Time {
	at := now
	var made unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, d.tools, 0, unix.STATX_BTIME, &made) == nil && made.Mask&unix.STATX_BTIME != 0 {
		at = time.Unix(made.Btime.Sec, int64(made.Btime.Nsec))
	} else if info, err := os.Stat(filepath.Join(d.ProgramDirectory(), "vc-step")); err == nil {
		at = info.ModTime()
	}
	if at.After(now) {
		return now
	}
	return at
}

// ReadIdentity reads the job's key and returns the TLS configuration for it. It returns nil if the job has no key.
func (d Directories) ReadIdentity() (*tls.Config, error) {
	key, err := os.ReadFile(filepath.Join(d.secret, launchconfig.StepKey))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return protocol.NewIdentity(string(key))
}

// ReadExported reads the environment that was submitted together with the job. It returns nil if none exists.
func (d Directories) ReadExported() []string {
	text, err := os.ReadFile(filepath.Join(d.secret, launchconfig.EnvironmentKey))
	if err != nil {
		return nil
	}
	return launchconfig.SplitEnvironment(text)
}
