package configcmd_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

const goodConf = "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins:\n  - name: priority\n  - name: gang\n- plugins:\n  - name: predicates\n"

// inForce adds the ConfigMap in which the scheduler publishes the configuration in effect.
func inForce(data map[string]string) func(*clitest.Server) {
	return func(s *clitest.Server) {
		s.SetObjects(&corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: keys.ConfigurationName}, Data: data,
		})
	}
}

func TestConfigGolden(t *testing.T) {
	t.Parallel()
	oddities := "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableMagic: true\n    arguments: {nonsense: 1}\n"
	golden.CompareRuns(t, "config", append(golden.RunsForCommands(golden.Command{Args: "config check -f -", Wrong: "config check -f /nosuch.conf", Input: goodConf}), []golden.Run{
		{About: "a file that is right", Args: "config check -f -", Input: goodConf, NoCluster: true},
		{About: "for a program", Args: "config check -f - -o json", Input: goodConf, NoCluster: true},
		{About: "what has no effect is a warning", Args: "config check -f -", Input: oddities, NoCluster: true},
		{About: "which --strict refuses", Args: "config check -f - --strict -o yaml", Input: oddities, Report: true, NoCluster: true},
		{About: "an action that does not exist", Args: "config check -f -", Input: "actions: \"enqueue, alocate\"\n", NoCluster: true},
		{About: "no YAML", Args: "config check -f -", Input: "actions: [", NoCluster: true},
		{About: "two policies that contradict each other", Args: "config check -f -", Input: "actions: allocate\ntiers: [{plugins: [{name: proportion}, {name: capacity}]}]\n", NoCluster: true},
		{About: "a file that is not there", Args: "config check -f nowhere.conf", NoCluster: true},
		{About: "a file without -f", Args: "config check nowhere.conf", NoCluster: true},
		{About: "what is in force", Args: "config check", Prepare: inForce(map[string]string{
			keys.ConfigurationText: goodConf, keys.ConfigurationSource: "/etc/volcano/volcano-scheduler.conf", keys.ConfigurationWarnings: "gang: x has no effect",
		})},
		{About: "a file that was refused", Args: "config check", Report: true, Prepare: inForce(map[string]string{
			keys.ConfigurationText: goodConf, keys.ConfigurationSource: "/etc/volcano/volcano-scheduler.conf", keys.ConfigurationRefused: "actions: empty; name at least one",
		})},
		{About: "a scheduler that has not said anything", Args: "config check --scheduler-namespace nowhere"},
	}...))
}
