package launcher_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/launcher"
	"github.com/vc-batch/vc/test/steptest"
)

// Site scripts use these variables under `set -u`, and programs such as clear fail without a terminal type.
func TestScriptsFindWhatALoginGives(t *testing.T) {
	t.Parallel()
	bare := func(p *steptest.Pod) {
		var env []string
		for _, entry := range p.Env {
			if strings.HasPrefix(entry, "VC_") || strings.HasPrefix(entry, "GORACE=") || strings.HasPrefix(entry, "PATH=") {
				env = append(env, entry)
			}
		}
		p.Env = env
	}
	user := launcher.CurrentUser()
	const script = "#!/bin/bash\nset -u\necho $USER $LOGNAME $HOME $SHELL $TERM $LANG $TMPDIR $SLURM_JOB_UID $SLURM_JOB_GID\n"
	cases := map[string]struct {
		exported, want string
	}{
		"by itself":                 {"", fmt.Sprintf("mei mei %s %s xterm C.UTF-8 /tmp %d %d\n", user.Home, user.Shell, user.UID, user.GID)},
		"beside exported variables": {"TERM=screen\x00HOME=/home/mei\x00VC_POD_NAME=other\x00", fmt.Sprintf("mei mei /home/mei %s screen C.UTF-8 /tmp %d %d\n", user.Shell, user.UID, user.GID)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, script, bare, func(p *steptest.Pod) {
				p.Write(filepath.Join(launchconfig.SecretVolume, launchconfig.EnvironmentKey), c.exported)
			})
			if code != 0 || p.Out.String() != c.want {
				t.Errorf("exit %d: %q, want %q\n%s", code, p.Out.String(), c.want, p.Err.String())
			}
		})
	}
}
