package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/vc-batch/vc/internal/local"
	"github.com/vc-batch/vc/internal/local/nodespec"
	"github.com/vc-batch/vc/internal/local/simnode"
)

func TestUpReadsItsFlags(t *testing.T) {
	files := t.TempDir()
	nodesFile, conf := filepath.Join(files, "nodes.yaml"), filepath.Join(files, "scheduler.conf")
	writeFile(t, nodesFile, "- {name: a, kind: simulated}\n")
	writeFile(t, conf, "actions: \"enqueue, allocate, backfill\"\n")
	none := corev1.ResourceList{}
	defaults := local.Settings{Components: local.ComponentsAll, Nodes: []nodespec.Node{{Name: "node-1", Kind: nodespec.KindProcess, Capacity: none}}}

	cases := map[string]struct {
		args []string
		want func(*local.Settings)
	}{
		"nothing said: one process node": {nil, func(*local.Settings) {}},
		"no node at all":                 {[]string{"--process-nodes=0"}, func(s *local.Settings) { s.Nodes = []nodespec.Node{} }},
		"both kinds, sized and labelled": {
			[]string{"--process-nodes=1", "--simulated-nodes=1", "--node-cpu=3920m", "--node-memory=6265300Ki", "--node-resource=nvidia.com/gpu=4", "--node-label=zone=a"},
			func(s *local.Settings) {
				capacity := corev1.ResourceList{
					"cpu": resource.MustParse("3920m"), "memory": resource.MustParse("6265300Ki"), "nvidia.com/gpu": resource.MustParse("4"),
				}
				labels := map[string]string{"zone": "a"}
				s.Nodes = []nodespec.Node{
					{Name: "node-1", Kind: nodespec.KindProcess, Capacity: capacity, Labels: labels},
					{Name: "sim-1", Kind: nodespec.KindSimulated, Capacity: capacity, Labels: labels},
				}
			},
		},
		"a nodes file says it all": {[]string{"--nodes-file=" + nodesFile}, func(s *local.Settings) {
			s.Nodes = []nodespec.Node{{Name: "a", Kind: nodespec.KindSimulated, Capacity: none}}
		}},
		"a nodes file and a process node": {[]string{"--nodes-file=" + nodesFile, "--process-nodes=1"}, func(s *local.Settings) {
			s.Nodes = []nodespec.Node{{Name: "a", Kind: nodespec.KindSimulated, Capacity: none}, s.Nodes[0]}
		}},
		"a port":                 {[]string{"--port=6443"}, func(s *local.Settings) { s.Port, s.PortAsked = 6443, true }},
		"any port":               {[]string{"--port=0"}, func(*local.Settings) {}},
		"never start":            {[]string{"--simulated-start=never"}, func(s *local.Settings) { s.SimulatedStart = simnode.Never }},
		"start late":             {[]string{"--simulated-start=1500ms"}, func(s *local.Settings) { s.SimulatedStart = 1500 * time.Millisecond }},
		"control plane only":     {[]string{"--components=api"}, func(s *local.Settings) { s.Components = local.ComponentsAPI }},
		"a scheduler's settings": {[]string{"--scheduler-conf=" + conf}, func(s *local.Settings) { s.SchedulerConf = conf }},
		"ephemeral":              {[]string{"--ephemeral"}, func(s *local.Settings) { s.Ephemeral = true }},
		"one more kubeconfig":    {[]string{"--kubeconfig=" + files + "/kc"}, func(s *local.Settings) { s.Kubeconfig = files + "/kc" }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := local.Dir(filepath.Join(t.TempDir(), "state"))
			got, err := settingsOf(t, dir, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			want := defaults
			want.Dir, want.Nodes = dir, append([]nodespec.Node{}, defaults.Nodes...)
			c.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestUpGoesOnWithTheLastRun(t *testing.T) {
	dir := local.Dir(filepath.Join(t.TempDir(), "state"))
	writeFile(t, string(dir)+"/settings.json", `{"port": 4711, "components": "api", "simulatedStart": 5000000000, "complete": true}`)
	last := local.Settings{Dir: dir, Port: 4711, Components: local.ComponentsAPI, SimulatedStart: 5 * time.Second, Complete: true}

	got, err := settingsOf(t, dir)
	if diff := cmp.Diff(last, got); diff != "" || err != nil {
		t.Errorf("without flags: %v (-want +got)\n%s", err, diff)
	}
	got, err = settingsOf(t, dir, "--components=all", "--simulated-nodes=0")
	want := last
	want.Components, want.Nodes = local.ComponentsAll, []nodespec.Node{{Name: "node-1", Kind: nodespec.KindProcess, Capacity: corev1.ResourceList{}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("with flags: %v (-want +got)\n%s", err, diff)
	}
	if _, err := settingsOf(t, dir, "--ephemeral"); err == nil || !strings.Contains(err.Error(), "contains a persistent cluster") {
		t.Errorf("--ephemeral over a kept cluster: %v", err)
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	foreign := t.TempDir()
	writeFile(t, foreign+"/thesis.tex", "")
	cases := map[string]struct{ args, want string }{
		"a flag that does not exist":    {"up --foo", "error: unknown flag: --foo\nhint:  see vc-local up --help\n"},
		"a command that does not exist": {"upp", "error: unknown command \"upp\" for \"vc-local\"\n"},
		"an argument too many":          {"down now", "error: unknown argument \"now\"\nhint:  see vc-local down --help\n"},
		"a port out of range":           {"up --port 99999", "error: port 99999 is not between 1 and 65535\nhint:  omit --port"},
		"a negative number of nodes":    {"up --process-nodes -1", "error: --process-nodes -1 is negative\nhint:"},
		"a cpu that is none":            {"up --node-cpu many", "error: --node-cpu: \"many\" is not a valid quantity; use a value such as 500m, 4 or 8Gi\nhint:"},
		"a label that is none":          {"up --node-label zone", "error: --node-label: \"zone\" is not NAME=VALUE\nhint:"},
		"components that do not exist":  {"up --components some", "error: --components: unknown value \"some\"\nhint:"},
		"a start that is no time":       {"up --simulated-start soon", "error: --simulated-start: \"soon\" is not valid: use a duration or never\nhint:"},
		"a conf that does not exist":    {"up --scheduler-conf /none", "error: scheduler configuration: open /none: no such file or directory\nhint:"},
		"a nodes file of nothing":       {"up --nodes-file /dev/null", "error: nodes file /dev/null: the file contains no nodes\nhint:"},
		"somebody's directory":          {"up --dir " + foreign, "error: " + foreign + " contains files that do not belong to vc-local (for example \"thesis.tex\")\nhint:"},
		"an output format":              {"status -o yaml", "error: unknown output format \"yaml\"\nhint:  use -o json, or omit -o\n"},
		"a number that is none":         {"nodes add --simulated x", "error: --simulated: \"x\" is not a whole number\nhint:  for example --simulated=4; see vc-local nodes add --help\n"},
		"a number that is too large":    {"nodes add --process 99999999999999999999", "error: --process: \"99999999999999999999\" is out of range\nhint:"},
		"a number that is missing":      {"up --process-nodes", "error: --process-nodes: the value is missing\nhint:  for example --process-nodes=4; see vc-local up --help\n"},
		"neither yes nor no":            {"up --detach=perhaps", "error: --detach: \"perhaps\" is not a valid Boolean value: use true or false\nhint:  for example --detach=true; see vc-local up --help\n"},
		"no nodes to add":               {"nodes add", "error: no nodes are specified"},
		"nodes of no cluster":           {"nodes add --process 1", "error: no cluster is running in "},
		"no node to remove":             {"nodes remove", "error: no nodes are specified: use NAME..., --process N|all or --simulated N|all\nhint:  see vc-local nodes remove --help\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			code := runCommand(t.Context(), strings.Fields(c.args), &out, &errOut)
			if code != exitError || !strings.HasPrefix(errOut.String(), c.want) || !strings.Contains(errOut.String(), "\nhint:  ") || out.Len() > 0 {
				t.Errorf("exit %d\nstdout %q\nstderr %q\nwant   %q", code, out.String(), errOut.String(), c.want)
			}
		})
	}
}

func TestDownWhereNothingIs(t *testing.T) {
	var out, errOut bytes.Buffer
	code := runCommand(t.Context(), []string{"down", "--purge", "--dir", filepath.Join(t.TempDir(), "none")}, &out, &errOut)
	if code != exitOK || !strings.HasPrefix(out.String(), "no cluster was running in ") {
		t.Errorf("exit %d, %q, %q", code, out.String(), errOut.String())
	}
}

func TestTheExportLineSurvivesAShell(t *testing.T) {
	for text, want := range map[string]string{
		"/home/mei/.local/state/vc-local/kubeconfig": "/home/mei/.local/state/vc-local/kubeconfig",
		"/tmp/my dir/kubeconfig":                     "'/tmp/my dir/kubeconfig'",
		"/tmp/it's/$HOME":                            `'/tmp/it'\''s/$HOME'`,
		"":                                           "''",
	} {
		if got := shellQuote(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// settingsOf returns the settings with which `up` would run.
func settingsOf(t *testing.T, dir local.Dir, args ...string) (local.Settings, error) {
	t.Helper()
	var got local.Settings
	cmd := newUp(func(_ context.Context, o *upOptions) error {
		var err error
		got, err = o.loadSettings(dir)
		return err
	})
	cmd.SetErr(io.Discard)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.Execute()
	return got, err
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
