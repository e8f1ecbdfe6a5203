package golden

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
)

// AnswerPlans makes the server set the status of every plan, as a scheduler would do.
func AnswerPlans(status insightv1alpha1.PlanStatus) func(*clitest.Server) {
	at := metav1.NewTime(Now)
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

// NewJobAnswer returns an answer about a gang of four pods in the queue research.
func NewJobAnswer(name string, verdict insightv1alpha1.Verdict, change func(*insightv1alpha1.Answer)) insightv1alpha1.PlanStatus {
	a := insightv1alpha1.Answer{Kind: "Job", Name: name, Verdict: verdict, Queue: "research", MinMember: 4, Pods: 4}
	if change != nil {
		change(&a)
	}
	return insightv1alpha1.PlanStatus{Verdict: verdict, Answers: []insightv1alpha1.Answer{a}}
}

// NewStartingAnswer returns an answer about a job that would start immediately.
func NewStartingAnswer() insightv1alpha1.PlanStatus {
	return NewJobAnswer("train", insightv1alpha1.VerdictStarts, func(a *insightv1alpha1.Answer) {
		a.Message, a.Starting = "would start now: 4 of 4 pods on 2 nodes", 4
		a.Placements = []insightv1alpha1.Placement{{Node: "192.168.23.24", Task: "worker", Pods: 1}, {Node: "192.168.51.67", Task: "worker", Pods: 3}}
	})
}
