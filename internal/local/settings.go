package local

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/vc-batch/vc/internal/extender"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
)

// What runs beside the control plane and the nodes.
const (
	// ComponentsAll runs our scheduler, controllers and admission.
	ComponentsAll = "all"
	// ComponentsAPI runs none of them, so that any scheduler can be tried.
	ComponentsAPI = "api"
)

// Settings say how a cluster runs. What is kept of them between two starts has a JSON name.
type Settings struct {
	// Dir holds everything.
	Dir Dir `json:"-"`
	// Port of the API server; 0 takes the last one, or a free one.
	Port int `json:"port"`
	// PortAsked says that a person named the port: no other will do.
	PortAsked bool `json:"-"`
	// Kubeconfig is one more file to write the kubeconfig to; may be empty.
	Kubeconfig string `json:"kubeconfig,omitempty"`
	// Nodes to run; nil: those of the last run, which the API server knows.
	Nodes []Node `json:"-"`
	// Components is ComponentsAll or ComponentsAPI.
	Components string `json:"components"`
	// SchedulerConf is the path of a volcano-scheduler.conf; may be empty.
	SchedulerConf string `json:"schedulerConf,omitempty"`
	// SimulatedStart is how long simulated nodes take to start a pod; simnode.Never for ever.
	SimulatedStart time.Duration `json:"simulatedStart"`
	// Ephemeral: nothing waits for the disk, and the directory goes on down.
	Ephemeral bool `json:"ephemeral,omitempty"`
	// Complete is set when a start with these settings came through: from then
	// on the API server knows the nodes.
	Complete bool `json:"complete"`
}

// LoadSettings reads what the last run was started with. The second result
// is false when there is none to go on with (it never came up, or was
// ephemeral): then these are the defaults.
func LoadSettings(d Dir) (Settings, bool, error) {
	s, defaults := Settings{Dir: d}, Settings{Dir: d, Components: ComponentsAll}
	err := readJSON(d.settingsFile(), &s)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (s.Ephemeral || !s.Complete) {
		return defaults, false, nil
	}
	if err != nil {
		return s, false, hinted("remove the cluster with: vc-local down --purge --dir "+string(d), "%s is damaged: %v", d.settingsFile(), err)
	}
	return s, true, nil
}

func (s Settings) save() error { return writeJSON(s.Dir.settingsFile(), s) }

// DefaultNodes is one process node sized as this machine.
func DefaultNodes() []Node {
	nodes, _ := Expand([]NodeSpec{{Kind: KindProcess}}, nil)
	return nodes
}

// wasEphemeral says that what the directory holds was not meant to stay: a
// killed process could not remove it.
func wasEphemeral(d Dir) bool {
	var s Settings
	return readJSON(d.settingsFile(), &s) == nil && s.Ephemeral
}

// CheckEphemeral refuses to make a cluster ephemeral that somebody may want to keep.
func CheckEphemeral(d Dir) error {
	if _, kept, err := LoadSettings(d); err != nil || !kept {
		return err
	}
	return hinted("give another --dir, or remove the cluster first: vc-local down --purge --dir "+string(d),
		"%s holds a cluster that is to be kept; --ephemeral would remove it", d)
}

// CheckSchedulerConf says whether the scheduler's configuration file can be
// used, and what in it has no effect.
func CheckSchedulerConf(path string) (warnings []string, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, hinted("give --scheduler-conf the path of a volcano-scheduler.conf", "scheduler configuration: %v", err)
	}
	refused := func(err error) error {
		return hinted("mend the file, or leave --scheduler-conf away to use the built-in configuration", "scheduler configuration %s: %v", path, err)
	}
	conf, warnings, err := config.Parse(data)
	if err != nil {
		return nil, refused(err)
	}
	if err := extender.Register(); err != nil {
		return nil, refused(err)
	}
	engine, err := scheduler.New(conf)
	if err != nil {
		return nil, refused(err)
	}
	return append(warnings, engine.Warnings...), nil
}
