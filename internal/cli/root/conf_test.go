package root

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/clitest"
)

const goodConf = "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins:\n  - name: priority\n  - name: gang\n- plugins:\n  - name: predicates\n"

// inForce puts the scheduler's word on its configuration into the cluster.
func inForce(data map[string]string) func(*clitest.Server) {
	return func(s *clitest.Server) {
		s.Set(&corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: keys.ConfigurationName}, Data: data,
		})
	}
}

func TestConfigGolden(t *testing.T) {
	t.Parallel()
	oddities := "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableMagic: true\n    arguments: {nonsense: 1}\n"
	golden(t, "config", []run{
		{about: "a file that is right", args: "config check -f -", input: goodConf, noCluster: true},
		{about: "for a program", args: "config check -f - -o json", input: goodConf, noCluster: true},
		{about: "what has no effect is a warning", args: "config check -f -", input: oddities, noCluster: true},
		{about: "which --strict refuses", args: "config check -f - --strict -o yaml", input: oddities, report: true, noCluster: true},
		{about: "an action that does not exist", args: "config check -f -", input: "actions: \"enqueue, alocate\"\n", noCluster: true},
		{about: "no YAML", args: "config check -f -", input: "actions: [", noCluster: true},
		{about: "two policies that contradict each other", args: "config check -f -", input: "actions: allocate\ntiers: [{plugins: [{name: proportion}, {name: capacity}]}]\n", noCluster: true},
		{about: "a file that is not there", args: "config check -f nowhere.conf", noCluster: true},
		{about: "a file without -f", args: "config check nowhere.conf", noCluster: true},
		{about: "what is in force", args: "config check", prepare: inForce(map[string]string{
			keys.ConfigurationText: goodConf, keys.ConfigurationSource: "/etc/volcano/volcano-scheduler.conf", keys.ConfigurationWarnings: "gang: x has no effect",
		})},
		{about: "a file that was refused", args: "config check", report: true, prepare: inForce(map[string]string{
			keys.ConfigurationText: goodConf, keys.ConfigurationSource: "/etc/volcano/volcano-scheduler.conf", keys.ConfigurationRefused: "actions: empty; name at least one",
		})},
		{about: "a scheduler that has not said anything", args: "config check --scheduler-namespace nowhere"},
	})
}
