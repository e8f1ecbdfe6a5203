package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
)

// TestAPodGroupTakesTheUserOnlyFromPodsThatThePolicyChecks: deploy/userpolicy.go excludes pods with the label of a Job, and
// checks no workloads.
func TestAPodGroupTakesTheUserOnlyFromPodsThatThePolicyChecks(t *testing.T) {
	t.Parallel()
	named := map[string]string{keys.User: "mei"}
	for name, test := range map[string]struct {
		pod       metav1.ObjectMeta
		inherited map[string]string
		want      string
	}{
		"a plain pod":                       {metav1.ObjectMeta{Annotations: named}, nil, "mei"},
		"a pod with the label of a Job":     {metav1.ObjectMeta{Annotations: named, Labels: map[string]string{keys.JobName: "x"}}, nil, ""},
		"a pod with an empty label":         {metav1.ObjectMeta{Annotations: named, Labels: map[string]string{keys.JobName: ""}}, nil, ""},
		"a workload":                        {metav1.ObjectMeta{}, named, ""},
		"a pod that contradicts a workload": {metav1.ObjectMeta{Annotations: named}, map[string]string{keys.User: "ada"}, "mei"},
	} {
		group := GroupFor(&corev1.Pod{ObjectMeta: test.pod}, test.inherited)
		if got := group.Annotations[keys.User]; got != test.want {
			t.Errorf("%s: the PodGroup has user %q, want %q", name, got, test.want)
		}
	}
}
