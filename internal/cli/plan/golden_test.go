package plan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

func evicts() insightv1alpha1.PlanStatus {
	return golden.NewJobAnswer("train", insightv1alpha1.VerdictStarts, func(a *insightv1alpha1.Answer) {
		a.Starting, a.VictimCount = 4, 3
		a.Placements = []insightv1alpha1.Placement{{Node: "192.168.23.24", Task: "worker", Pods: 4, Later: true}}
		for _, pod := range []string{"segment-main-0", "segment-main-1"} {
			a.Victims = append(a.Victims, insightv1alpha1.Victim{Namespace: "cv", Pod: pod, Job: "segment", Queue: "default", Node: "192.168.23.24", Reason: "reclaim",
				Message: "reclaimed by nlp/train: queue research is under its share"})
		}
		a.Victims = append(a.Victims, insightv1alpha1.Victim{Namespace: "web", Pod: "front-7", Reason: "preempt"})
	})
}

func wouldWait() insightv1alpha1.PlanStatus {
	return golden.NewJobAnswer("train", insightv1alpha1.VerdictWaits, func(a *insightv1alpha1.Answer) {
		e := golden.WaitingExplanation()
		start := golden.TimeAgo(-40 * time.Minute)
		e.EstimatedStart, e.Estimate = &start, "when det-finetune reaches its time limit"
		a.Message, a.Explanation = "would wait: "+e.Message, e
		a.Warnings = []string{"spec.tasks[0]: no request of memory"}
	})
}

func refused() insightv1alpha1.PlanStatus {
	return golden.NewJobAnswer("train", insightv1alpha1.VerdictNever, func(a *insightv1alpha1.Answer) {
		a.MinMember, a.Pods = 0, 0
		a.Problems = []insightv1alpha1.Problem{{Field: "spec.queue", Message: `Invalid value: "reserch": unable to find job queue`}}
	})
}

func queueChange() insightv1alpha1.PlanStatus {
	return insightv1alpha1.PlanStatus{
		Verdict: insightv1alpha1.VerdictStarts,
		Answers: []insightv1alpha1.Answer{{Kind: "Queue", Name: "research", Verdict: insightv1alpha1.VerdictStarts,
			Message: "weight 3 -> 4, capability cpu 16 -> 64: 1 waiting job would start and 1 pod would be evicted immediately", Changes: []string{"weight 3 -> 4", "capability cpu 16 -> 64"}}},
		Starts:      []insightv1alpha1.StartingGang{{Namespace: "nlp", Name: "eval", Queue: "research", Pods: 2}},
		Victims:     []insightv1alpha1.Victim{{Namespace: "cv", Pod: "segment-main-0", Job: "segment", Queue: "default", Reason: "reclaim"}},
		VictimCount: 1,
	}
}

// noTraces fails if a plan is left on the server.
func noTraces(t *testing.T, s *clitest.Server) {
	t.Helper()
	if left := s.ObjectsBelow("/apis/insight.vc-batch.dev/v1alpha1/plans"); len(left) > 0 {
		t.Errorf("plans are left: %v", left)
	}
}

func TestPlanGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "plan", []golden.Run{
		{About: "a job that starts, into a pipe", Args: "plan -f -", Input: golden.JobFile, Prepare: golden.AnswerPlans(golden.NewStartingAnswer()), Check: noTraces},
		{About: "on a terminal, in colour", Args: "plan -f -", Input: golden.JobFile, Width: 80, Color: true, Prepare: golden.AnswerPlans(golden.NewStartingAnswer())},
		{About: "a field that no job has", Args: "plan -f -", Input: strings.Replace(golden.JobFile, `"minAvailable"`, `"minAvailabel"`, 1), Check: noTraces},
		{About: "a field that no job has, for who wants to know of it only", Args: "plan -f - --validate=warn", Input: strings.Replace(golden.JobFile, `"minAvailable"`, `"minAvailabel"`, 1), Prepare: golden.AnswerPlans(golden.NewStartingAnswer())},
		{About: "a job that takes room from others", Args: "plan -f -", Input: golden.JobFile, Width: 80, Prepare: golden.AnswerPlans(evicts())},
		{About: "one pod without a task", Args: "plan -f -", Input: golden.JobFile, Prepare: golden.AnswerPlans(golden.NewJobAnswer("filed", insightv1alpha1.VerdictStarts, func(a *insightv1alpha1.Answer) {
			a.Starting, a.Placements = 1, []insightv1alpha1.Placement{{Node: "192.168.23.24", Pods: 1}}
		}))},
		{About: "a job that waits", Args: "plan -f -", Input: golden.JobFile, Width: 120, Prepare: golden.AnswerPlans(wouldWait()), Report: true, Check: noTraces},
		{About: "a job that waits, on a narrow terminal", Args: "plan -f -", Input: golden.JobFile, Width: 40, Prepare: golden.AnswerPlans(wouldWait()), Report: true},
		{About: "a job that would be rejected", Args: "plan -f -", Input: golden.JobFile, Prepare: golden.AnswerPlans(refused()), Report: true},
		{About: "a change of a queue", Args: "plan --queue-edit research --set weight=4 --set capability.cpu=64", Width: 80, Prepare: golden.AnswerPlans(queueChange()), Check: asksForTheQueueAsChanged},
		{About: "for programs", Args: "plan -f - -o json", Input: golden.JobFile, Prepare: golden.AnswerPlans(golden.NewStartingAnswer())},
		{About: "the verdict alone", Args: "plan -f - -o jsonpath={.status.verdict}", Input: golden.JobFile, Prepare: golden.AnswerPlans(wouldWait()), Report: true},
		{About: "nobody answers", Args: "plan -f - --timeout 50ms", Input: golden.JobFile, Check: noTraces},
		{About: "the scheduler has no answer", Args: "plan -f -", Input: golden.JobFile, Prepare: golden.AnswerPlans(insightv1alpha1.PlanStatus{Problem: "it is out of its mind"}), Check: noTraces},
		{About: "a cluster that knows no plans", Args: "plan -f -", Input: golden.JobFile, Prepare: func(s *clitest.Server) {
			s.RejectRequests("POST", "/apis/insight.vc-batch.dev", 404, metav1.StatusReasonNotFound, "the server could not find the requested resource")
		}},
		{About: "who may not plan", Args: "plan -f -", Input: golden.JobFile, Prepare: func(s *clitest.Server) {
			s.RejectRequests("POST", "/apis/insight.vc-batch.dev", 403, metav1.StatusReasonForbidden,
				`plans.insight.vc-batch.dev is forbidden: User "mei" cannot create resource "plans" in API group "insight.vc-batch.dev" in the namespace "nlp"`)
		}},
		{About: "nothing to plan", Args: "plan"},
		{About: "a file without -f", Args: "plan job.yaml"},
		{About: "a queue without a change", Args: "plan --queue-edit research"},
		{About: "no such queue", Args: "plan --queue-edit reserch --set weight=4"},
		{About: "a field that queues do not have", Args: "plan --queue-edit research --set wieght=4"},
		{About: "a value that is no number", Args: "plan --queue-edit research --set weight=heavy"},
		{About: "a value that is no amount", Args: "plan --queue-edit research --set capability.cpu=lots"},
		{About: "only objects that are not planned", Args: "plan -f -", Input: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"},
	})
}

func asksForTheQueueAsChanged(t *testing.T, s *clitest.Server) {
	t.Helper()
	noTraces(t, s)
	asked := s.CreatedObjects("Plan")
	if len(asked) != 1 {
		t.Fatalf("%d plans were made", len(asked))
	}
	var p insightv1alpha1.Plan
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(asked[0], &p); err != nil {
		t.Fatal(err)
	}
	var queue struct {
		Spec struct {
			Weight     int
			Capability map[string]string
		}
	}
	if err := json.Unmarshal(p.Spec.Objects[0].Raw, &queue); err != nil || queue.Spec.Weight != 4 || queue.Spec.Capability["cpu"] != "64" || queue.Spec.Capability["memory"] != "64Gi" {
		t.Errorf("the plan is about %+v: %v", queue, err)
	}
}
