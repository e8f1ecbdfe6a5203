package doctor_test

import (
	"encoding/json"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// withClock makes the API server's clock that of the goldens.
func withClock(s *clitest.Server) {
	s.HandlePath("/version", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", golden.Now.Format(http.TimeFormat))
		_ = json.NewEncoder(w).Encode(version.Info{Major: "1", Minor: "36", GitVersion: "v1.36.0"})
	}))
	s.SetObjects(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "volcano-system", Name: keys.ConfigurationName},
		Data:       map[string]string{keys.ConfigurationVersion: "v0.2.0", keys.ConfigurationSource: "volcano-scheduler.conf", keys.ConfigurationRefused: "actions: empty; name at least one"},
	})
}

func TestDoctorGolden(t *testing.T) {
	t.Parallel()
	refuse := func(s *clitest.Server) {
		withClock(s)
		s.RejectRequests("GET", "/apis/", http.StatusForbidden, metav1.StatusReasonForbidden, `User "mei" cannot get resource`)
		s.RejectRequests("GET", "/api/v1/namespaces/", http.StatusForbidden, metav1.StatusReasonForbidden, `User "mei" cannot get resource`)
	}
	golden.CompareRuns(t, "doctor", append(golden.RunsForCommands(
		golden.Command{Args: "doctor --no-probe", Wrong: "doctor -o jsno", Prepare: withClock, Report: true},
	), []golden.Run{
		{About: "in colour", Args: "doctor --no-probe", Prepare: withClock, Width: 120, Color: true, Report: true},
		{About: "a person with few rights", Args: "doctor --no-probe", Prepare: refuse, Report: true},
		{About: "an impossible duration", Args: "doctor --timeout 0s"},
		{About: "an API server that cannot be reached", Args: "doctor --server http://127.0.0.1:1"},
		{About: "flags that contradict each other", Args: "doctor --no-probe --image pause"},
	}...))
}
