package local

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/vc-batch/vc/internal/extender"
	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/usererror"
)

// Values of Settings.Components, which selects the components that run in addition to the control plane and the nodes.
const (
	// ComponentsAll runs the project's scheduler, controllers and admission.
	ComponentsAll = "all"
	// ComponentsAPI runs none of them, so that users can try other schedulers.
	ComponentsAPI = "api"
)

// Settings configures a cluster. Fields with a JSON name are saved between starts.
type Settings struct {
	// Dir holds all files of the cluster.
	Dir Dir `json:"-"`
	// Port is the port of the API server; 0 means the port from the last run, or a free one.
	Port int `json:"port"`
	// PortAsked is true if the user chose the port, so that no other port may be used.
	PortAsked bool `json:"-"`
	// Kubeconfig is an additional path for the kubeconfig; it may be empty.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Nodes lists the nodes to run; nil means the nodes from the last run, which are stored in the API server.
	Nodes []nodespec.Node `json:"-"`
	// Components is ComponentsAll or ComponentsAPI.
	Components string `json:"components"`
	// SchedulerConf is the path of a volcano-scheduler.conf; it may be empty.
	SchedulerConf string `json:"schedulerConf,omitempty"`
	// SimulatedStart is how long simulated nodes take to start a pod; simnode.Never means forever.
	SimulatedStart time.Duration `json:"simulatedStart"`
	// Ephemeral is true if writes do not wait for the disk and `down` removes the directory.
	Ephemeral bool `json:"ephemeral,omitempty"`
	// Complete is true after the first successful start with these settings. From then on, the nodes are stored in
	// the API server.
	Complete bool `json:"complete"`
}

// LoadSettings returns the settings from the last run. If the cluster never started successfully or was ephemeral, it
// returns the defaults and false.
func LoadSettings(d Dir) (Settings, bool, error) {
	s, defaults := Settings{Dir: d}, Settings{Dir: d, Components: ComponentsAll}
	err := readJSON(d.settingsFile(), &s)
	if errors.Is(err, fs.ErrNotExist) {
		return defaults, false, nil
	}
	if err != nil {
		return s, false, usererror.Wrapf("remove the cluster with: vc-local down --purge --dir "+string(d), "%s is damaged: %v", d.settingsFile(), err)
	}
	if s.Ephemeral || !s.Complete {
		return defaults, false, nil
	}
	return s, true, nil
}

func (s Settings) saveSettings() error { return writeJSON(s.Dir.settingsFile(), s) }

// wasEphemeral reports whether the directory belongs to an ephemeral cluster whose process was killed before it could
// remove the directory.
func wasEphemeral(d Dir) bool {
	var s Settings
	return readJSON(d.settingsFile(), &s) == nil && s.Ephemeral
}

// CheckEphemeral returns an error if the directory contains a persistent cluster, which must not become ephemeral.
func CheckEphemeral(d Dir) error {
	if _, kept, err := LoadSettings(d); err != nil || !kept {
		return err
	}
	return usererror.Wrapf("specify another --dir, or remove the cluster first: vc-local down --purge --dir "+string(d),
		"%s contains a persistent cluster, which --ephemeral would remove", d)
}

// CheckSchedulerConf checks the scheduler's configuration file. It returns an error if the file is invalid, and
// warnings about parts that have no effect.
func CheckSchedulerConf(path string) (warnings []string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usererror.Wrapf("specify the path of a volcano-scheduler.conf with --scheduler-conf", "scheduler configuration: %v", err)
	}
	refused := func(err error) error {
		return usererror.Wrapf("correct the file, or omit --scheduler-conf to use the built-in configuration", "scheduler configuration %s: %v", path, err)
	}
	conf, warnings, err := config.Parse(data)
	if err != nil {
		return nil, refused(err)
	}
	if err := extender.RegisterPolicy(); err != nil {
		return nil, refused(err)
	}
	engine, err := scheduler.New(conf)
	if err != nil {
		return nil, refused(err)
	}
	return append(warnings, engine.Warnings...), nil
}
