package jobflow_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// jobOf returns the job of a flow's step.
func jobOf(flow *flowv1alpha1.JobFlow, step string, phase batchv1alpha1.JobPhase) *batchv1alpha1.Job {
	job := golden.NewJob(flow.Name+"-"+step, "research", phase, time.Minute)
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(flow, flowv1alpha1.GroupVersion.WithKind("JobFlow"))}
	return job
}

// plainFlow returns a flow of two steps; the second depends on the first.
func plainFlow(phase flowv1alpha1.Phase, jobs ...flowv1alpha1.JobStatus) *flowv1alpha1.JobFlow {
	flow := newFlow("pair", phase, time.Minute)
	flow.Spec.Flows = []flowv1alpha1.Flow{{Name: "first"}, after("second", nil, "first")}
	flow.Status.JobStatusList = jobs
	for _, job := range jobs {
		if job.State == batchv1alpha1.Failed {
			flow.Status.FailedJobs = append(flow.Status.FailedJobs, job.Name)
		}
	}
	return flow
}

func templatesOf(names ...string) (templates []*flowv1alpha1.JobTemplate) {
	for _, name := range names {
		templates = append(templates, &flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "nlp"}})
	}
	return templates
}

// waitForFlowWatch waits until a command watches job flows. Commands watch other kinds as well.
func waitForFlowWatch(t *testing.T, server *clitest.Server) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		queries, requests := server.Queries(), server.Requests()
		for i := range min(len(queries), len(requests)) {
			if strings.Contains(queries[i], "watch=") && strings.Contains(requests[i], "/jobflows") {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("job flows are not watched; there were: %q", requests)
		}
	}
}

func TestWaitForAFlowEndsAsTheFlowDoes(t *testing.T) {
	t.Parallel()
	failed := flowv1alpha1.JobStatus{Name: "pair-first", State: batchv1alpha1.Failed}
	cases := map[string]struct {
		args string
		last *flowv1alpha1.JobFlow
		code int
		says string
	}{
		"it succeeds":                  {"jobflow wait pair", plainFlow(flowv1alpha1.Succeed), cli.ExitOK, "jobflow.flow.volcano.sh/pair succeeded\n"},
		"it fails":                     {"jobflow wait pair", plainFlow(flowv1alpha1.Failed, failed), cli.ExitError, "error: job flow \"pair\" ended in phase Failed: first\nhint:  vcctl job view pair-first shows why; vcctl jobflow retry pair runs the failed steps again\n"},
		"it begins to run":             {"jobflow wait pair --for=running", plainFlow(flowv1alpha1.Running), cli.ExitOK, "jobflow.flow.volcano.sh/pair running\n"},
		"a field has a value":          {"jobflow wait pair --for=jsonpath={.status.state.phase}=Running", plainFlow(flowv1alpha1.Running), cli.ExitOK, "has {.status.state.phase}=Running"},
		"it fails where it should run": {"jobflow wait pair --for=running", plainFlow(flowv1alpha1.Failed, failed), cli.ExitError, "ended in phase Failed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, plainFlow(flowv1alpha1.Pending))
			out, _, done := golden.Start(t, server, strings.Fields(tc.args)...)
			waitForFlowWatch(t, server)
			if code := golden.WaitForEnd(t, server, out, done, tc.last); code != tc.code || !strings.Contains(out.String(), tc.says) {
				t.Errorf("exit %d, want %d with %q:\n%s", code, tc.code, tc.says, out)
			}
		})
	}
}

func TestWaitForAFlowThatIsDeletedOrLate(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"jobflow wait pair":               {cli.ExitError, "error: job flow \"pair\" was deleted in the meantime"},
		"jobflow wait pair --for=deleted": {cli.ExitOK, "jobflow.flow.volcano.sh/pair deleted\n"},
	} {
		server := clitest.Start(t, plainFlow(flowv1alpha1.Pending))
		out, _, done := golden.Start(t, server, strings.Fields(args)...)
		waitForFlowWatch(t, server)
		server.RemoveObject(plainFlow(flowv1alpha1.Pending))
		out.WaitFor(t, want.says)
		if code := <-done; code != want.code {
			t.Errorf("%s: exit %d, want %d:\n%s", args, code, want.code, out)
		}
	}
	server := clitest.Start(t, plainFlow(flowv1alpha1.Pending))
	got := golden.Run{Args: "jobflow wait pair --timeout 50ms"}.RunAgainst(t, server)
	if got.Code != cli.ExitPending || !strings.Contains(got.Err, `timed out waiting for job flow "pair" after 50ms: Pending; waiting: first, second`) {
		t.Errorf("exit %d: %s", got.Code, got.Err)
	}
}

// A command that waits for a flow prints why its steps wait: the reasons of the steps' jobs, including jobs created
// later, and missing templates.
func TestWaitingForAFlowPrintsTheReasons(t *testing.T) {
	t.Parallel()
	flow := plainFlow(flowv1alpha1.Pending)
	server := clitest.Start(t, flow)
	out, stop, _ := golden.Start(t, server, "jobflow", "wait", "pair")
	out.WaitFor(t, `job flow "pair" is waiting: step first: job template first does not exist in namespace nlp; to create it, run vcctl jobtemplate create -f FILE`)
	for _, template := range templatesOf("first", "second") {
		server.SetObjects(template)
	}
	first := jobOf(flow, "first", batchv1alpha1.Pending)
	closed := golden.NewGroup(first, schedulingv1beta1.PodGroupPending, &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "queue research is closed"})
	server.SetObjects(closed) // the PodGroup may be seen before its job
	server.SetObjects(first)
	begun := plainFlow(flowv1alpha1.Pending, flowv1alpha1.JobStatus{Name: "pair-first", State: batchv1alpha1.Pending})
	server.SetObjects(begun)
	out.WaitFor(t, `job "pair-first" is waiting: QueueClosed: queue research is closed`)
	other := golden.NewJob("stranger", "research", batchv1alpha1.Pending, time.Minute)
	server.SetObjects(other, golden.NewGroup(other, schedulingv1beta1.PodGroupPending, &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "queue research is closed"}))
	second := jobOf(flow, "second", batchv1alpha1.Pending)
	server.SetObjects(second, golden.NewGroup(second, schedulingv1beta1.PodGroupPending, &schedulingv1beta1.Explanation{Reason: "QueueClosed", Message: "queue research is closed still"}))
	out.WaitFor(t, `job "pair-second" is waiting: QueueClosed: queue research is closed still`)
	stop()
	if strings.Contains(out.String(), "stranger") {
		t.Errorf("the reason of a job of another owner is printed:\n%s", out)
	}
}

func TestWaitForAFlowOutlastsAnAPIServerThatIsAway(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"jobflow wait pair", "jobflow logs pair -f"} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, plainFlow(flowv1alpha1.Pending))
			out, _, done := golden.Start(t, server, strings.Fields(args)...)
			waitForFlowWatch(t, server)
			server.StartOutage()
			out.WaitFor(t, "the API server is not responding")
			server.EndOutage()
			out.WaitFor(t, "the API server is responding again")
			if code := golden.WaitForEnd(t, server, out, done, plainFlow(flowv1alpha1.Succeed)); code != cli.ExitOK || strings.Count(out.String(), "is not responding") != 1 {
				t.Errorf("exit %d:\n%s", code, out)
			}
		})
	}
}

func TestCreateWaitsForTheFlowToEnd(t *testing.T) {
	t.Parallel()
	for phase, code := range map[flowv1alpha1.Phase]int{flowv1alpha1.Succeed: cli.ExitOK, flowv1alpha1.Failed: cli.ExitError} {
		server := clitest.Start(t)
		out, _, done := golden.Start(t, server, "jobflow", "create", "-f", "testdata/flow.yaml", "--wait")
		out.WaitFor(t, "filed")
		waitForFlowWatch(t, server)
		flow := newFlow("filed", phase, 0)
		for _, object := range server.ObjectsBelow("/apis/flow.volcano.sh/v1alpha1/namespaces/nlp/jobflows") {
			flow.UID = golden.UIDOf(object["metadata"].(map[string]any))
		}
		if got := golden.WaitForEnd(t, server, out, done, flow); got != code {
			t.Errorf("%s: exit %d, want %d:\n%s", phase, got, code, out)
		}
	}
}

func TestRetryAsksForWhatFailedToRunAgain(t *testing.T) {
	t.Parallel()
	end := metav1.NewTime(golden.Now.Add(-time.Hour))
	failed := plainFlow(flowv1alpha1.Failed, flowv1alpha1.JobStatus{Name: "pair-first", State: batchv1alpha1.Failed, EndTimestamp: end})
	server := clitest.Start(t, failed)
	out, _, done := golden.Start(t, server, "jobflow", "retry", "pair", "--wait")
	out.WaitFor(t, "jobflow.flow.volcano.sh/pair retried: first\n")
	waitForFlowWatch(t, server)
	stored := server.ObjectsBelow("/apis/flow.volcano.sh/v1alpha1/namespaces/nlp/jobflows")[0]
	if got, want := golden.FieldText(stored, "metadata", "annotations", keys.RetryFailed), end.UTC().Format(time.RFC3339); got != want {
		t.Errorf("the annotation is %q, want %q", got, want)
	}
	// The failure from before the retry does not end the wait; the new failure does.
	again := plainFlow(flowv1alpha1.Failed, flowv1alpha1.JobStatus{Name: "pair-first", State: batchv1alpha1.Failed, EndTimestamp: metav1.NewTime(golden.Now)})
	server.SetObjects(plainFlow(flowv1alpha1.Running))
	if code := golden.WaitForEnd(t, server, out, done, again); code != cli.ExitError || !strings.Contains(out.String(), `job flow "pair" ended in phase Failed`) {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestLogsOfAFlowFollowStepsThatBeginLater(t *testing.T) {
	t.Parallel()
	flow := plainFlow(flowv1alpha1.Pending)
	server := clitest.Start(t, flow)
	out, _, done := golden.Start(t, server, "jobflow", "logs", "pair", "-f")
	waitForFlowWatch(t, server)
	var begun []flowv1alpha1.JobStatus
	for _, step := range []string{"first", "second"} {
		made := jobOf(flow, step, batchv1alpha1.Running)
		server.SetLog("nlp/pair-"+step+"-worker-0", step+" speaks\n")
		server.SetObjects(made, golden.NewPod(made, 0, "192.168.23.24"))
		begun = append(begun, flowv1alpha1.JobStatus{Name: made.Name, State: batchv1alpha1.Running})
		server.SetObjects(plainFlow(flowv1alpha1.Running, begun...))
		out.WaitFor(t, step+"/worker-0 ")
		out.WaitFor(t, "| "+step+" speaks")
		server.SetObjects(jobOf(flow, step, batchv1alpha1.Completed))
	}
	if code := golden.WaitForEnd(t, server, out, done, plainFlow(flowv1alpha1.Succeed, begun...)); code != cli.ExitOK {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestLogsOfAFlowOfWhichNothingHasBegun(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, plainFlow(flowv1alpha1.Pending))
	got := golden.Run{Args: "jobflow logs pair second"}.RunAgainst(t, server)
	if got.Code != cli.ExitError || !strings.Contains(got.Err, "job flow \"pair\" has no logs: step second has not started") {
		t.Errorf("exit %d: %s", got.Code, got.Err)
	}
	if got = (golden.Run{Args: "jobflow logs pair secnod"}).RunAgainst(t, server); got.Code != cli.ExitError || !strings.Contains(got.Err, `did you mean "second"?`) {
		t.Errorf("exit %d: %s", got.Code, got.Err)
	}
}

// A user without access to job templates can view the flow; the view does not mention templates.
func TestViewWithoutTheRightToTemplates(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, plainFlow(flowv1alpha1.Pending))
	server.RejectRequests("GET", "/apis/flow.volcano.sh/v1alpha1/namespaces/nlp/jobtemplates", http.StatusForbidden, metav1.StatusReasonForbidden, "no")
	got := golden.Run{Args: "jobflow view pair --events=false"}.RunAgainst(t, server)
	if got.Code != cli.ExitOK || strings.Contains(got.Out, "does not exist in namespace") {
		t.Errorf("exit %d: %s%s", got.Code, got.Out, got.Err)
	}
}
