package jobflow_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// flows adds three flows to the cluster: a running one, a failed one, and one that waits for a template.
func flows(s *clitest.Server) {
	night := newFlow("night", flowv1alpha1.Running, 2*time.Minute)
	night.Spec.Flows = []flowv1alpha1.Flow{
		{Name: "serve"},
		after("query", &flowv1alpha1.Probe{HTTPGetList: []flowv1alpha1.HTTPGet{{TaskName: "server", Path: "/", Port: 8123}}}, "serve"),
		after("check", &flowv1alpha1.Probe{TCPSocketList: []flowv1alpha1.TCPSocket{{TaskName: "server", Port: 22}}, TaskStatusList: []flowv1alpha1.TaskStatus{{TaskName: "server", Phase: "Succeeded"}}}, "serve"),
		after("report", nil, "serve", "query"),
		after("mail", nil, "report", "check"),
	}
	night.Status.JobStatusList = []flowv1alpha1.JobStatus{
		{Name: "night-serve", State: batchv1alpha1.Running, StartTimestamp: golden.TimeAgo(110 * time.Second)},
		{Name: "night-query", State: batchv1alpha1.Pending, StartTimestamp: golden.TimeAgo(30 * time.Second), RestartCount: 1},
	}
	night.Status.RunningJobs, night.Status.PendingJobs = []string{"night-serve"}, []string{"night-query"}

	etl := newFlow("etl", flowv1alpha1.Failed, 26*time.Hour)
	etl.Spec.JobRetainPolicy = flowv1alpha1.Delete
	etl.Spec.Flows = []flowv1alpha1.Flow{{Name: "load"}, after("train", nil, "load"), after("export", nil, "train")}
	etl.Status.JobStatusList = []flowv1alpha1.JobStatus{
		{Name: "etl-load", State: batchv1alpha1.Completed, StartTimestamp: golden.TimeAgo(26 * time.Hour), EndTimestamp: golden.TimeAgo(25 * time.Hour)},
		{Name: "etl-train", State: batchv1alpha1.Failed, StartTimestamp: golden.TimeAgo(25 * time.Hour), EndTimestamp: golden.TimeAgo(24 * time.Hour), RestartCount: 3},
	}
	etl.Status.CompletedJobs, etl.Status.FailedJobs = []string{"etl-load"}, []string{"etl-train"}

	fresh := newFlow("fresh", "", 5*time.Second)
	fresh.Spec.Flows = []flowv1alpha1.Flow{{Name: "serve"}, {Name: "ghost"}}
	elsewhere := newFlow("weekly", flowv1alpha1.Succeed, 50*time.Hour)
	elsewhere.Namespace = "cv"
	s.SetObjects(night, etl, fresh, elsewhere,
		&flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Name: "serve", Namespace: "nlp"}},
		&corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "night.1", Namespace: "nlp"}, InvolvedObject: corev1.ObjectReference{Kind: "JobFlow", Name: "night", UID: night.UID},
			Type: "Normal", Reason: "Created", Message: "create a job named night-serve!", LastTimestamp: golden.TimeAgo(110 * time.Second), Count: 1})
}

// spoken adds a log to the first step of the flow night.
func spoken(s *clitest.Server) {
	flows(s)
	night := newFlow("night", flowv1alpha1.Running, 2*time.Minute)
	serve := jobOf(night, "serve", batchv1alpha1.Running)
	s.SetObjects(serve, golden.NewPod(serve, 0, "192.168.23.24"))
	s.SetLog("nlp/night-serve-worker-0", "listening\n")
}

func newFlow(name string, phase flowv1alpha1.Phase, age time.Duration) *flowv1alpha1.JobFlow {
	flow := &flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "nlp", CreationTimestamp: golden.TimeAgo(age)}}
	flow.UID = types.UID("uid-flow-" + name)
	flow.Labels = map[string]string{"team": name}
	flow.Status.State.Phase = phase
	return flow
}

func after(name string, probe *flowv1alpha1.Probe, targets ...string) flowv1alpha1.Flow {
	return flowv1alpha1.Flow{Name: name, DependsOn: &flowv1alpha1.DependsOn{Targets: targets, Probe: probe}}
}

const flowFile = `apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: filed}
spec:
  flows:
  - name: one
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: one}
spec:
  minAvailable: 1
  tasks:
  - name: main
    replicas: 1
    template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}
`

func TestJobFlowGoldens(t *testing.T) {
	runs := golden.RunsForCommands(
		golden.Command{Args: "jobflow list", Wrong: "jobflow list --sort-by stepz", Prepare: flows},
		golden.Command{Args: "jobflow get night", Wrong: "jobflow get nigth", Prepare: flows},
		golden.Command{Args: "jobflow view night", Wrong: "jobflow view", Prepare: flows},
		golden.Command{Args: "jobflow create -f testdata/flow.yaml", Wrong: "jobflow create -f testdata/circle.yaml", Prepare: flows},
		golden.Command{Args: "jobflow retry etl", Wrong: "jobflow retry night", Prepare: flows},
		golden.Command{Args: "jobflow wait night --for=running", Wrong: "jobflow wait etl", Prepare: flows},
		golden.Command{Args: "jobflow logs night serve", Wrong: "jobflow logs fresh", NoJSON: true, Prepare: spoken},
		golden.Command{Args: "jobflow delete night", Wrong: "jobflow delete --all", Prepare: flows},
	)
	more := func(about, args string, change func(*golden.Run)) {
		r := golden.Run{About: about, Args: args, Prepare: flows}
		if change != nil {
			change(&r)
		}
		runs = append(runs, r)
	}
	more("all columns, all namespaces", "jobflow list -A -o wide", nil)
	more("by label", "jf ls -l team=etl", nil)
	more("names", "jobflow list -o name", nil)
	more("custom columns", "jobflow list -o custom-columns=NAME:.metadata.name,PHASE:.status.state.phase --no-headers", nil)
	more("Volcano's table", "jobflow list --compat", nil)
	more("one, called Volcano's way", "jobflow get -N night -n nlp", nil)
	more("nothing there, Volcano's way", "jobflow list --compat -n empty", nil)
	more("nothing there", "jobflow list -n empty", nil)
	more("a flow that failed", "jobflow view etl", nil)
	more("a flow whose template is missing, in colour, with lines that are drawn", "jobflow view fresh", func(r *golden.Run) { r.Color = true })
	more("lines of the tree", "jobflow view night --events=false", func(r *golden.Run) { r.Width, r.Env = 120, map[string]string{"LANG": "C.UTF-8"} })
	more("two, as objects", "jobflow view night etl -o jsonpath={.items[*].metadata.name}", nil)
	more("one that is not there", "jobflow view nigth", nil)
	more("described, Volcano's way", "jobflow describe -N fresh", nil)
	more("all of the namespace, Volcano's way", "jobflow describe --format json", nil)
	more("a format that is none, Volcano's way", "jobflow describe -N fresh --format xml", nil)
	more("created from a pipe, only tried", "jobflow create -f - --dry-run=server", func(r *golden.Run) { r.Input = flowFile })
	more("only tried here", "jobflow create -f testdata/flow.yaml --dry-run=client -o name", nil)
	const flowsPath, templatesPath = "/apis/flow.volcano.sh/v1alpha1/namespaces/nlp/jobflows", "/apis/flow.volcano.sh/v1alpha1/namespaces/nlp/jobtemplates"
	existingTemplate := &flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "nlp", CreationTimestamp: golden.TimeAgo(time.Hour)}}
	more("the flow exists already: its template is not created", "jobflow create -f testdata/flow.yaml", func(r *golden.Run) {
		r.Prepare = func(s *clitest.Server) { s.SetObjects(newFlow("filed", flowv1alpha1.Running, time.Hour)) }
		r.Check = golden.CheckStored(templatesPath, 0)
	})
	more("the template exists already: the flow is not created", "jobflow create -f testdata/flow.yaml", func(r *golden.Run) {
		r.Prepare = func(s *clitest.Server) { s.SetObjects(existingTemplate) }
		r.Check = golden.CheckStored(flowsPath, 0)
	})
	more("both exist already: both are named", "jobflow create -f testdata/flow.yaml", func(r *golden.Run) {
		r.Prepare = func(s *clitest.Server) {
			s.SetObjects(newFlow("filed", flowv1alpha1.Running, time.Hour), existingTemplate)
		}
	})
	more("the same flow twice", "jobflow create -f testdata/flow.yaml -f testdata/flow.yaml", func(r *golden.Run) {
		r.Check = golden.CheckStored(templatesPath, 1) // only the one of flows
	})
	more("a file without a flow", "jobflow create -f testdata/other.yaml", nil)
	more("no file", "jobflow create", nil)
	more("a name for a file", "jobflow create night", nil)
	more("deleted by label, with a question, on a terminal", "jobflow delete -l team", func(r *golden.Run) { r.Width, r.Input = 80, "y\n" })
	more("not deleted, for the answer was no", "jobflow delete --all", func(r *golden.Run) { r.Width, r.Input = 80, "n\n" })
	more("deleted, Volcano's way", "jobflow delete -N night", func(r *golden.Run) {
		r.Check = golden.CheckStored("/apis/flow.volcano.sh/v1alpha1/namespaces/nlp/jobflows", 2)
	})
	more("what a file created", "jobflow delete --file testdata/flow.yaml --ignore-not-found", nil)
	more("only tried", "jobflow delete night --dry-run=server", nil)
	more("some are not there", "jobflow delete night nosuch", nil)
	more("an unknown verb", "jobflow lits", nil)
	golden.CompareRuns(t, "jobflow", runs)
}
