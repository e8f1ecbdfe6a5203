package doctor_test

import (
	"encoding/json"
	"net/http"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/accounting/wire"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// withClock makes the API server's clock that of the goldens.
func withClock(s *clitest.Server) {
	s.HandlePath("/version", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", golden.Now.Format(http.TimeFormat))
		_ = json.NewEncoder(w).Encode(version.Info{Major: "1", Minor: "36", GitVersion: "v1.36.0"})
	}))
	s.HandlePath(wire.RecordsPath, http.NotFoundHandler())
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
	withAccounting := func(s *clitest.Server) {
		withClock(s)
		meta := func(name string) metav1.ObjectMeta {
			return metav1.ObjectMeta{Namespace: deploy.Namespace, Name: name}
		}
		pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "vcd", Image: "ghcr.io/vc-batch/vcd:v0.1.0"}}}}
		s.SetObjects(
			&appsv1.Deployment{ObjectMeta: meta(deploy.SchedulerAccount), Spec: appsv1.DeploymentSpec{Template: pod}},
			&appsv1.StatefulSet{ObjectMeta: meta(deploy.AccountingWorkload), Spec: appsv1.StatefulSetSpec{Template: pod}},
			&corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: deploy.Namespace, Name: "vc-accounting-0", Labels: map[string]string{deploy.NameLabel: deploy.AccountingWorkload}},
				Status:     corev1.PodStatus{Phase: corev1.PodRunning},
			},
		)
		s.HandlePath("/api/v1/namespaces/"+deploy.Namespace+"/pods/vc-accounting-0:8080/proxy/metrics", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("vc_accounting_spool_age_seconds 8100\nvc_accounting_spool_bytes 3.1e+08\nvc_accounting_spool_max_bytes 1.073741824e+09\n"))
		}))
		s.HandlePath(wire.RecordsPath, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "error trying to reach service: connection refused", http.StatusServiceUnavailable)
		}))
		s.HandlePath("/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.accounting.vc-batch.dev", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"spec":{"caBundle":"eA=="}}`))
		}))
	}
	golden.CompareRuns(t, "doctor", append(golden.RunsForCommands(
		golden.Command{Args: "doctor --no-probe", Wrong: "doctor -o jsno", Prepare: withClock, Report: true},
	), []golden.Run{
		{About: "in colour", Args: "doctor --no-probe", Prepare: withClock, Width: 120, Color: true, Report: true},
		{About: "with accounting", Args: "doctor --no-probe", Prepare: withAccounting, Report: true},
		{About: "a person with few rights", Args: "doctor --no-probe", Prepare: refuse, Report: true},
		{About: "an impossible duration", Args: "doctor --timeout 0s"},
		{About: "an API server that cannot be reached", Args: "doctor --server http://127.0.0.1:1"},
		{About: "flags that contradict each other", Args: "doctor --no-probe --image pause"},
	}...))
}
