package version_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// installed adds a scheduler of one version and controllers of another to the cluster.
func installed(scheduler, controllers string) func(*clitest.Server) {
	return func(s *clitest.Server) {
		s.SetObjects(
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: keys.ConfigurationName}, Data: map[string]string{keys.ConfigurationVersion: scheduler}},
			deployment("volcano-scheduler", "ghcr.io/vc-batch/vcd:latest"), deployment("volcano-controllers", "registry:5000/vc-batch/vcd:"+controllers),
			deployment("volcano-admission", "registry:5000/vc-batch/vcd"), deployment("grafana", "grafana:11"))
	}
}

func deployment(name, image string) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: name}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: name, Image: image}}
	return d
}

func TestVersionGolden(t *testing.T) {
	t.Parallel()
	refuse := func(path string) func(*clitest.Server) {
		return func(s *clitest.Server) { s.RejectRequests("GET", path, 403, metav1.StatusReasonForbidden, "no") }
	}
	golden.CompareRuns(t, "version", append(golden.RunsForCommands(golden.Command{Args: "version", Wrong: "version -o jsno", Prepare: installed("v0.1.3", "v0.1.0")}),
		golden.Run{About: "the client alone", Args: "version --client"},
		golden.Run{About: "other releases run in the cluster", Args: "version", Prepare: installed("v0.2.0", "v1.1.0")},
		golden.Run{About: "with -o, too, the warnings are told", Args: "version -o yaml", Prepare: installed("v0.2.0", "v0.1.0")},
		golden.Run{About: "nobody says a version", Args: "version"},
		golden.Run{About: "who may not read the parts is not told of them", Args: "version", Prepare: func(s *clitest.Server) {
			installed("v0.1.0", "v0.1.0")(s)
			refuse("/api/v1/namespaces/volcano-system")(s)
			refuse("/apis/apps/")(s)
		}},
		golden.Run{About: "a cluster without some of our kinds", Args: "version", Prepare: func(s *clitest.Server) { s.SetServedKinds("scheduling.volcano.sh/v1beta1", "Queue") }},
		golden.Run{About: "a cluster without all of them", Args: "version", Prepare: func(s *clitest.Server) { s.SetServedKinds("apps/v1", "Deployment") }},
		golden.Run{About: "an old Kubernetes with Volcano's CRDs", Args: "version", Prepare: func(s *clitest.Server) { s.ActAsVolcano("v1.27.4") }},
		golden.Run{About: "who may ask nothing", Args: "version", Prepare: refuse("/")},
		golden.Run{About: "an argument", Args: "version nlp"},
	))
}
