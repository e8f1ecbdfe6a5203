package translate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

// Only the Secret contains values of exported variables.
func TestValuesThatAreExportedAreInTheSecretOnly(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"--export=ALL,TOKEN=hunter2", "--export=TOKEN=hunter2,EPOCHS", "'--export=A=\"x,y\",TOKEN=hunter2'"} {
		r, err := try(t, line, func(in *Input) { in.Line = "sbatch run.sh" })
		if err != nil {
			t.Fatal(err)
		}
		if got := launchconfig.VariableValue(launchconfig.SplitEnvironment(r.Secret.Data[launchconfig.EnvironmentKey]), "TOKEN"); got != "hunter2" {
			t.Errorf("%s exports %q", line, got)
		}
		for _, object := range []any{r.Job, r.ConfigMap} {
			text, err := json.Marshal(object)
			if err != nil || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "x,y") {
				t.Errorf("%s: the value stands in %s, %v", line, text, err)
			}
		}
	}
	r, err := try(t, "--export=ALL,TOKEN=hunter2,EPOCHS")
	if err != nil || r.Spec.ExportEnv != "ALL,TOKEN,EPOCHS" {
		t.Errorf("SLURM_EXPORT_ENV: %+v, %v", r.Spec, err)
	}
}

func TestWithoutValues(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{"": "", "ALL": "ALL", "ALL,A=1,B": "ALL,A=…,B", "A='x,y'": "A=…", "A=": "A=…"} {
		if got := ReplaceValues(what, "=…"); got != want {
			t.Errorf("%q becomes %q, want %q", what, got, want)
		}
	}
}

// Stored command lines are truncated, because the size of annotations is limited.
func TestLongLinesAreCut(t *testing.T) {
	t.Parallel()
	r, err := try(t, "", func(in *Input) {
		in.Line, in.Title = "sbatch --wrap="+strings.Repeat("ä", 200_000), strings.Repeat("x", 200_000)
	})
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for _, value := range r.Job.Annotations {
		all += len(value)
	}
	if all > 220_000 || !strings.Contains(at(t, r, "metadata.annotations.vc-batch|dev/slurm"), "ä…") {
		t.Errorf("annotations have %d bytes", all)
	}
}

func TestWithoutTheHomeDirectory(t *testing.T) {
	t.Parallel()
	home := func(in *Input) { in.Environ = append(in.Environ, "HOME=/home/mei") }
	r, err := try(t, "--no-container-mount-home", home)
	if err != nil {
		t.Fatal(err)
	}
	if got := at(t, r, main+"volumeMounts"); strings.Contains(got, `"/home"`) || !strings.Contains(got, `"/data"`) {
		t.Errorf("mounts are %s", got)
	}
	if r.Spec.WorkDir != "" || r.Spec.Output != "" || !slices.Contains(r.NoteTexts(), "no shared volume contains /home/mei/p; the output is in the pod log") {
		t.Errorf("%+v, %q", r.Spec, r.Notes)
	}
	if made := r.Made[0]; made.Option != "--no-container-mount-home" || len(made.Fields) != 1 {
		t.Errorf("%+v", r.Made)
	}
	r, err = try(t, "--no-container-mount-home", home, func(in *Input) { in.Facts.Helper = true })
	if err != nil || !slices.Contains(r.NoteTexts(), "--no-container-mount-home: on a process node, pods see the machine's own /home/mei; files written there are lost") {
		t.Errorf("%q, %v", r.Notes, err)
	}
	r, err = try(t, "--no-container-mount-home", func(in *Input) { in.Environ = []string{"HOME=/root"} })
	if err != nil || !slices.Contains(r.NoteTexts(), "--no-container-mount-home: no volume in the site's profile contains /root, so the option has no effect") {
		t.Errorf("%q, %v", r.Notes, err)
	}
	r, err = try(t, "--container-mount-home", home)
	if err != nil || !strings.Contains(at(t, r, main+"volumeMounts"), `"/home"`) {
		t.Errorf("%v", err)
	}
}

// The pods of one element run on different nodes; pods of different elements may share a node.
func TestNodesOfAnElementAreApart(t *testing.T) {
	t.Parallel()
	r, err := try(t, "-a 0-3 -N2")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"labelSelector":{"matchExpressions":[{"key":"volcano.sh/job-name","operator":"In","values":["run-sh-x7k2p"]}]},"matchLabelKeys":["volcano.sh/partition-id"],"topologyKey":"kubernetes.io/hostname"}`
	if got := at(t, r, pod+"affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.0"); got != want {
		t.Errorf("got %s", got)
	}
}

func TestScriptReceivesTheDistribution(t *testing.T) {
	t.Parallel()
	r, err := try(t, "--distribution=block:cyclic")
	if err != nil || r.Spec.Distribution != "block:cyclic" {
		t.Errorf("%+v, %v", r, err)
	}
}
