package root

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/cli/clitest"
)

// oracle answers every plan with the status, as a scheduler would.
func oracle(status insightv1alpha1.PlanStatus) func(*clitest.Server) {
	at := metav1.NewTime(now)
	status.AnsweredAt = &at
	return func(s *clitest.Server) {
		s.OnCreate("Plan", func(object map[string]any) {
			plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status)
			if err == nil {
				object["status"] = plain
			}
		})
	}
}

func jobAnswer(name string, verdict insightv1alpha1.Verdict, change func(*insightv1alpha1.Answer)) insightv1alpha1.PlanStatus {
	a := insightv1alpha1.Answer{Kind: "Job", Name: name, Verdict: verdict, Queue: "research", MinMember: 4, Pods: 4}
	if change != nil {
		change(&a)
	}
	return insightv1alpha1.PlanStatus{Verdict: verdict, Answers: []insightv1alpha1.Answer{a}}
}

func starts() insightv1alpha1.PlanStatus {
	return jobAnswer("train", insightv1alpha1.VerdictStarts, func(a *insightv1alpha1.Answer) {
		a.Message, a.Starting = "would start now: 4 of 4 pods on 2 nodes", 4
		a.Placements = []insightv1alpha1.Placement{{Node: "192.168.23.24", Task: "worker", Pods: 1}, {Node: "192.168.51.67", Task: "worker", Pods: 3}}
	})
}

func evicts() insightv1alpha1.PlanStatus {
	return jobAnswer("train", insightv1alpha1.VerdictStarts, func(a *insightv1alpha1.Answer) {
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
	return jobAnswer("train", insightv1alpha1.VerdictWaits, func(a *insightv1alpha1.Answer) {
		e := waiting()
		start := ago(-40 * time.Minute)
		e.EstimatedStart, e.Estimate = &start, "when det-finetune reaches its time limit"
		a.Message, a.Explanation = "would wait: "+e.Message, e
		a.Warnings = []string{"spec.tasks[0]: no request of memory"}
	})
}

func refused() insightv1alpha1.PlanStatus {
	return jobAnswer("train", insightv1alpha1.VerdictNever, func(a *insightv1alpha1.Answer) {
		a.MinMember, a.Pods = 0, 0
		a.Problems = []insightv1alpha1.Problem{{Field: "spec.queue", Message: `Invalid value: "reserch": unable to find job queue`}}
	})
}

func queueChange() insightv1alpha1.PlanStatus {
	return insightv1alpha1.PlanStatus{
		Verdict: insightv1alpha1.VerdictStarts,
		Answers: []insightv1alpha1.Answer{{Kind: "Queue", Name: "research", Verdict: insightv1alpha1.VerdictStarts,
			Message: "weight 3 -> 4, capability cpu 16 -> 64: 1 waiting job would start and 1 pod would be evicted at once", Changes: []string{"weight 3 -> 4", "capability cpu 16 -> 64"}}},
		Starts:      []insightv1alpha1.StartingGang{{Namespace: "nlp", Name: "eval", Queue: "research", Pods: 2}},
		Victims:     []insightv1alpha1.Victim{{Namespace: "cv", Pod: "segment-main-0", Job: "segment", Queue: "default", Reason: "reclaim"}},
		VictimCount: 1,
	}
}

// noTraces fails when a plan is left on the server.
func noTraces(t *testing.T, s *clitest.Server) {
	t.Helper()
	if left := s.Objects("/apis/insight.vc-batch.dev/v1alpha1/plans"); len(left) > 0 {
		t.Errorf("plans are left: %v", left)
	}
}

func TestPlanGolden(t *testing.T) {
	t.Parallel()
	golden(t, "plan", []run{
		{about: "a job that starts, into a pipe", args: "plan -f -", input: jobFile, prepare: oracle(starts()), check: noTraces},
		{about: "on a terminal, in colour", args: "plan -f -", input: jobFile, width: 80, color: true, prepare: oracle(starts())},
		{about: "a job that takes room from others", args: "plan -f -", input: jobFile, width: 80, prepare: oracle(evicts())},
		{about: "a job that waits", args: "plan -f -", input: jobFile, width: 120, prepare: oracle(wouldWait()), report: true, check: noTraces},
		{about: "a job that waits, on a narrow terminal", args: "plan -f -", input: jobFile, width: 40, prepare: oracle(wouldWait()), report: true},
		{about: "a job that would be refused", args: "plan -f -", input: jobFile, prepare: oracle(refused()), report: true},
		{about: "a change of a queue", args: "plan --queue-edit research --set weight=4 --set capability.cpu=64", width: 80, prepare: oracle(queueChange()), check: asksForTheQueueAsChanged},
		{about: "for programs", args: "plan -f - -o json", input: jobFile, prepare: oracle(starts())},
		{about: "the verdict alone", args: "plan -f - -o jsonpath={.status.verdict}", input: jobFile, prepare: oracle(wouldWait()), report: true},
		{about: "nobody answers", args: "plan -f - --timeout 50ms", input: jobFile, check: noTraces},
		{about: "the scheduler has no answer", args: "plan -f -", input: jobFile, prepare: oracle(insightv1alpha1.PlanStatus{Problem: "it is out of its mind"}), check: noTraces},
		{about: "a cluster that knows no plans", args: "plan -f -", input: jobFile, prepare: func(s *clitest.Server) {
			s.Refuse("POST", "/apis/insight.vc-batch.dev", 404, metav1.StatusReasonNotFound, "the server could not find the requested resource")
		}},
		{about: "who may not plan", args: "plan -f -", input: jobFile, prepare: func(s *clitest.Server) {
			s.Refuse("POST", "/apis/insight.vc-batch.dev", 403, metav1.StatusReasonForbidden,
				`plans.insight.vc-batch.dev is forbidden: User "mei" cannot create resource "plans" in API group "insight.vc-batch.dev" in the namespace "nlp"`)
		}},
		{about: "nothing to plan", args: "plan"},
		{about: "a queue without a change", args: "plan --queue-edit research"},
		{about: "no such queue", args: "plan --queue-edit reserch --set weight=4"},
		{about: "a field that queues do not have", args: "plan --queue-edit research --set wieght=4"},
		{about: "a value that is no number", args: "plan --queue-edit research --set weight=heavy"},
		{about: "a value that is no amount", args: "plan --queue-edit research --set capability.cpu=lots"},
		{about: "only objects that are not planned", args: "plan -f -", input: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"},
	})
}

func asksForTheQueueAsChanged(t *testing.T, s *clitest.Server) {
	t.Helper()
	noTraces(t, s)
	asked := s.Created("Plan")
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
