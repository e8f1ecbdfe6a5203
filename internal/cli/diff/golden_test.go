package diff_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

const changedFile = `apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research, labels: {team: nlp}}
spec: {weight: 7}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: default}
`

const settingsFile = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {color: green, size: "4"}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
data: {kept: aGVsbG8=, password: bmV3}
`

// applied adds objects in the state that kubectl apply leaves, with the applied version in an annotation.
func applied(s *clitest.Server) {
	meta := func(name, last string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: "nlp", UID: "uid-1", CreationTimestamp: golden.TimeAgo(0), Annotations: map[string]string{corev1.LastAppliedConfigAnnotation: last},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate}}}
	}
	s.SetObjects(
		&corev1.ConfigMap{ObjectMeta: meta("settings", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings"},"data":{"color":"red","shape":"round"}}`),
			Data: map[string]string{"color": "red", "shape": "round", "of-another-program": "stays"}},
		&corev1.Secret{ObjectMeta: meta("login", `{}`), Data: map[string][]byte{"kept": []byte("hello"), "password": []byte("old")}},
	)
}

func TestDiffGolden(t *testing.T) {
	t.Parallel()
	runs := []golden.Run{
		{About: "what would change, into a pipe", Args: "diff -f -", Input: changedFile, Report: true, Check: nothingChanged},
		{About: "a terminal of 80 columns", Args: "diff -f -", Input: changedFile, Width: 80, Report: true},
		{About: "a terminal of 120 columns, in colour", Args: "diff -f -", Input: changedFile, Width: 120, Color: true, Report: true},
		{About: "objects that do not exist are new", Args: "diff -f -", Input: golden.JobFile, Report: true, Check: nothingChanged},
		{About: "what the file no longer says of what was applied goes, what others added stays; values of secrets are hidden", Args: "diff -f -", Input: settingsFile, Prepare: applied, Report: true},
		{About: "no differences", Args: "diff -f -", Input: "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: default}\n"},
		{About: "a kustomization", Args: "diff -k testdata", Report: true},
		{About: "nothing to compare", Args: "diff"},
		{About: "a file without -f", Args: "diff job.yaml"},
		{About: "a flag that does not exist", Args: "diff --nosuch"},
		{About: "a file that is not there", Args: "diff -f nosuch.yaml"},
		{About: "files and a kustomization", Args: "diff -f - -k testdata"},
		{About: "a field that no queue has", Args: "diff -f -", Input: strings.Replace(changedFile, "weight", "wieght", 1)},
		{About: "a name that the server makes up", Args: "diff -f -", Input: strings.Replace(golden.JobFile, `"name": "filed"`, `"generateName": "filed-"`, 1), Report: true},
		{About: "some can be compared, one is rejected by the server", Args: "diff -f -", Input: changedFile, Prepare: func(s *clitest.Server) {
			s.RejectRequests("PATCH", "/apis/scheduling.volcano.sh/v1beta1/queues/default", 422, metav1.StatusReasonInvalid, `Queue "default" is invalid: spec.weight: Invalid value: 0: must be greater than 0`)
		}, Report: true},
		{About: "who may not read", Args: "diff -f -", Input: changedFile, Prepare: func(s *clitest.Server) {
			s.RejectRequests("GET", "/apis/scheduling", 403, metav1.StatusReasonForbidden, `queues.scheduling.volcano.sh "research" is forbidden: User "mei" cannot get resource "queues"`)
		}},
		{About: "a program that is not there", Args: "diff -f -", Input: changedFile, Env: map[string]string{"KUBECTL_EXTERNAL_DIFF": "nosuchdiff -u"}},
	}
	golden.CompareRuns(t, "diff", runs)
}

func nothingChanged(t *testing.T, s *clitest.Server) {
	t.Helper()
	for i, request := range s.Requests() {
		if method, _, _ := strings.Cut(request, " "); method != "GET" && !strings.Contains(s.Queries()[i], "dryRun=All") {
			t.Errorf("%s?%s is no dry run", request, s.Queries()[i])
		}
	}
}
