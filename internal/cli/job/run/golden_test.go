package run_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

const badFile = `apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: bad}
spec:
  queue: reserch
  minAvailable: 5
  tasks:
  - name: main
    replicas: 1
    template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}
`

const typoFile = `apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: typo}
spec:
  minAvailble: 1
  tasks:
  - name: main
    replicas: 1
    template: {spec: {restartPolicy: Never, contaners: [], containers: [{name: main, image: busybox}]}}
`

const queuePath = "/apis/scheduling.volcano.sh/v1beta1/queues"

// rejectTrials makes the server reject a dry run of a job, with a warning, because its queue does not exist yet.
func rejectTrials(s *clitest.Server) {
	s.HandlePath(golden.JobsPath, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Has("dryRun") {
			w.Header().Set("Warning", `299 - "there is no queue filed yet"`)
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422, "details": {"name": "filed"},
				"message": "Job.batch.volcano.sh \"filed\" is invalid: spec.queue: Invalid value: \"filed\": queue \"filed\" does not exist"}`)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.Copy(w, r.Body)
	}))
}

func TestJobRunGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "run", []golden.Run{
		{About: "from flags", Argv: []string{"job", "run", "hello", "--image", "busybox", "--replicas", "3", "--", "sh", "-c", "echo hi"}, Check: golden.CheckStored(golden.JobsPath, 7)},
		{About: "from flags, looked at", Argv: []string{"job", "run", "big", "--image", "pytorch", "--replicas", "8", "--min", "4", "--gpus", "1", "--memory", "16Gi",
			"--queue", "research", "--time", "12h", "--env", "MODE=fast", "--plugin", "svc,ssh", "--dry-run=client", "-o", "yaml", "--", "python", "train.py"}, Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "Volcano's flags and Volcano's words", Args: "job run -N old -n cv -i busybox -m 1 -r 2 -R cpu=500m,memory=50Mi -L cpu=500m,memory=50Mi -S volcano",
			Check: golden.CheckStored("/apis/batch.volcano.sh/v1alpha1/namespaces/cv/jobs", 2)},
		{About: "Volcano's flags, looked at", Args: "job run --name old --requests=cpu=2 --dry-run=client -o json"},
		{About: "Volcano's -R asks for devices, wherever it stands", Args: "job run -N old -R nvidia.com/gpu=8 --dry-run=client -o json"},
		{About: "Volcano's -R after a name", Args: "job run old -R nvidia.com/gpu=8 -r 2 --dry-run=client -o jsonpath={.spec.tasks[0].template.spec.containers[0].resources}"},
		{About: "Volcano's -R above the usual limit", Args: "job run old -R cpu=4 --dry-run=client -o jsonpath={.spec.tasks[0].template.spec.containers[0].resources}"},
		{About: "Volcano's --name beside --cpu and --memory", Args: "job run --name old --cpu 4 --memory 2Gi --dry-run=client -o jsonpath={.spec.tasks[0].template.spec.containers[0].resources}"},
		{About: "what a pod asks for in two ways", Args: "job run old -R cpu=4 --cpu 2", Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "many kinds from standard input, queues first", Args: "job run -f -", Input: golden.JobFile, Check: golden.CheckStored(golden.JobsPath, 7)},
		{About: "the server only checks", Args: "job run -f - --dry-run=server", Input: golden.JobFile, Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "two mistakes are both told, and nothing is sent", Args: "job run -f -", Input: badFile, Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "the same without a cluster", Args: "job run -f - --dry-run=client", Input: badFile, NoCluster: true},
		{About: "a field that does not exist is refused, with what was meant", Args: "job run -f -", Input: typoFile, Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "a field that does not exist, let through", Args: "job run -f - --validate=false", Input: typoFile, Check: golden.CheckStored(golden.JobsPath, 7)},
		{About: "a way to validate that does not exist", Args: "job run -f - --validate=strickt", Input: golden.JobFile, Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "no such queue, from flags", Args: "job run x --queue reserch"},
		{About: "flags that make no job are all told", Args: "job run x --replicas -1 --min -2 --gpus -1 --time -1s --ttl -1s --restart Sometimes"},
		{About: "more at the least than there are", Args: "job run x --replicas 2 --min 3"},
		{About: "a name that is none", Args: "job run X_1 --task Y_"},
		{About: "a length of time that is none", Args: "job run x --time soon"},
		{About: "a flag without its value", Args: "job run x --image"},
		{About: "a closed queue", Args: "job run x --queue archive", Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "a job that exists", Args: "job run train"},
		{About: "the webhook refuses", Args: "job run x", Prepare: func(s *clitest.Server) {
			s.RejectRequests("POST", "/apis/batch", 403, metav1.StatusReasonForbidden, `admission webhook "validatejob.volcano.sh" denied the request: spec.tasks: too odd`)
		}},
		{About: "forbidden", Args: "job run x", Prepare: func(s *clitest.Server) {
			s.RejectRequests("POST", "/apis/batch", 403, metav1.StatusReasonForbidden, `jobs.batch.volcano.sh is forbidden: User "mei" cannot create resource "jobs" in API group "batch.volcano.sh" in the namespace "nlp"`)
		}},
		{About: "a policy rejects one of several objects, and nothing is sent", Args: "job run -f -", Input: golden.JobFile, Check: golden.CheckStored(queuePath, 3),
			Prepare: func(s *clitest.Server) {
				s.RejectRequests("POST", "/api/v1", 403, metav1.StatusReasonForbidden, `admission webhook "labels.example.com" denied the request: label team is missing`)
			}},
		{About: "some objects are created if a rejection names another one of the file", Args: "job run -f -", Input: golden.JobFile, Check: golden.CheckStored(queuePath, 4),
			Prepare: func(s *clitest.Server) {
				s.RejectRequests("POST", "/apis/batch", 403, metav1.StatusReasonForbidden, `admission webhook "queues.example.com" denied the request: there is no queue fresh`)
			}},
		{About: "a queue and its job of the same name, and a warning of what is not there yet", Args: "job run -f -", Input: strings.ReplaceAll(golden.JobFile, "fresh", "filed"),
			Check: golden.CheckStored(queuePath, 4), Prepare: rejectTrials},
		{About: "a version that our group does not have, without a cluster", Args: "job run -f - --dry-run=client", NoCluster: true, Input: strings.Replace(golden.JobFile, "sh/v1alpha1", "sh/v1", 1)},
		{About: "a kind that our group does not have, without a cluster", Args: "job run -f - --dry-run=client", NoCluster: true, Input: strings.Replace(golden.JobFile, `"Job"`, `"Jbo"`, 1)},
		{About: "no name", Args: "job run"},
		{About: "flags that describe a job, and a file", Args: "job run -f - --replicas 4 -q research --labels a=b", Input: golden.JobFile, Check: golden.CheckStored(golden.JobsPath, 6)},
		{About: "flags that describe a job, and a file, Volcano's way", Args: "job run -f - -N x -r 4 --dry-run=client", Input: golden.JobFile},
		{About: "a command without --", Args: "job run x python train.py"},
		{About: "a name and a file", Args: "job run x -f y.yaml"},
		{About: "no such file", Args: "job run -f nosuch.yaml"},
		{About: "a directory without YAML", Args: "job run -f testdata/none"},
		{About: "nothing in the pipe", Args: "job run -f -"},
		{About: "no YAML", Args: "job run -f -", Input: "{{{"},
		{About: "an object without a kind", Args: "job run -f -", Input: "a: b\n"},
		{About: "a wrong type", Args: "job run -f -", Input: "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: x}\nspec: {minAvailable: many}\n"},
		{About: "an amount that is none", Args: "job run x --cpu many --memory -1"},
		{About: "a dry run of a kind that does not exist", Args: "job run x --dry-run=sever"},
		{About: "the namespace of the file against -n", Args: "job run -f - -n cv", Input: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: nlp}\n"},
		{About: "a kind that the cluster does not know", Args: "job run -f -", Input: "apiVersion: x.example.com/v1\nkind: Thing\nmetadata: {name: x}\n"},
	})
}
