package plan_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

const gangFile = `apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: gang}
spec: {minMember: 2, queue: research}
---
apiVersion: v1
kind: Pod
metadata: {name: gang-0, annotations: {scheduling.k8s.io/group-name: gang}}
spec: {schedulerName: volcano, containers: [{name: main, image: busybox}]}
---
apiVersion: v1
kind: Pod
metadata: {name: gang-1, annotations: {scheduling.k8s.io/group-name: gang}}
spec: {schedulerName: volcano, containers: [{name: main, image: busybox}]}
---
apiVersion: v1
kind: Pod
metadata: {name: alone}
spec: {schedulerName: volcano, containers: [{name: main, image: busybox}]}
`

const flowFile = `apiVersion: flow.volcano.sh/v1alpha1
kind: JobFlow
metadata: {name: night}
spec:
  flows:
  - name: load
  - name: clean
    patch: {jobSpec: {queue: research}}
  - name: train
    dependsOn: {targets: [load, clean]}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: load}
spec:
  minAvailable: 1
  tasks:
  - {name: main, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}}
---
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: clean}
spec:
  minAvailable: 2
  tasks:
  - {name: main, replicas: 2, template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}}
`

// asked returns the objects of the only created plan, as Kind/name.
func asked(t *testing.T, s *clitest.Server) []string {
	t.Helper()
	plans := s.CreatedObjects("Plan")
	if len(plans) != 1 {
		t.Fatalf("%d plans were created", len(plans))
	}
	var p insightv1alpha1.Plan
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(plans[0], &p); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range p.Spec.Objects {
		var head struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct{ Queue string }
		}
		if err := json.Unmarshal(object.Raw, &head); err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimSuffix(head.Kind+"/"+head.Metadata.Name+" "+head.Spec.Queue, " "))
	}
	return names
}

func TestPlanOfPodsAndTheirGroup(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	status := golden.NewJobAnswer("gang", insightv1alpha1.VerdictStarts, func(a *insightv1alpha1.Answer) { a.Kind, a.Pods, a.Starting, a.MinMember = "PodGroup", 2, 2, 2 })
	for _, pod := range []string{"gang-0", "gang-1", "alone"} {
		status.Answers = append(status.Answers, insightv1alpha1.Answer{Kind: "Pod", Name: pod, Verdict: insightv1alpha1.VerdictStarts, Pods: 1, Starting: 1})
	}
	golden.AnswerPlans(status)(server)
	got := golden.Run{Args: "plan -f -", Input: gangFile}.RunAgainst(t, server)
	want := "nlp/gang would start now\n  pods      2 of 2 would be assigned to a node; 2 must start together\n\nnlp/alone would start now\n  pods      1 of 1 would be assigned to a node\n"
	if got.Code != cli.ExitOK || got.Out != want {
		t.Errorf("exit %d:\n%s%s, want\n%s", got.Code, got.Out, got.Err, want)
	}
	if names := asked(t, server); !slices.Equal(names, []string{"PodGroup/gang research", "Pod/gang-0", "Pod/gang-1", "Pod/alone"}) {
		t.Errorf("the plan is about %q", names)
	}
}

func TestPlanOfAFlowIsThatOfItsFirstSteps(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	golden.AnswerPlans(golden.NewJobAnswer("night-load", insightv1alpha1.VerdictStarts, nil))(server)
	got := golden.Run{Args: "plan -f -", Input: flowFile}.RunAgainst(t, server)
	if want := "job flow \"night\": only its first steps are planned (load, clean); 1 more starts later\n"; got.Code != cli.ExitOK || got.Err != want {
		t.Errorf("exit %d: %s, want %s", got.Code, got.Err, want)
	}
	if names := asked(t, server); !slices.Equal(names, []string{"Job/night-load", "Job/night-clean research"}) {
		t.Errorf("the plan is about %q", names)
	}
}

func TestPlansThatCannotBeMade(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ input, says string }{
		"a step whose template is missing": {strings.Replace(flowFile, "name: clean}", "name: other}", 1), `job flow "night": job template clean does not exist in namespace nlp, so the step would wait`},
		"a patch that does not fit":        {strings.Replace(flowFile, "queue: research", "tasks: [{replicas: 3}]", 1), "spec.flows[1].patch"},
		"a pod that exists already":        {strings.ReplaceAll(gangFile, "alone", "train-worker-0"), `pod "train-worker-0" already exists in namespace "nlp" (Running): this object would be rejected`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			got := golden.Run{Args: "plan -f -", Input: test.input}.RunAgainst(t, server)
			if got.Code != cli.ExitError || !strings.Contains(got.Err, test.says) || len(server.CreatedObjects("Plan")) > 0 {
				t.Errorf("exit %d: %s, want %q", got.Code, got.Err, test.says)
			}
		})
	}
}
