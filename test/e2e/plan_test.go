package e2e

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// plan simulates a manifest with `vcctl plan` and checks the exit code.
func (c *cluster) plan(manifest string, code int, args ...string) *insightv1alpha1.PlanStatus {
	c.t.Helper()
	status, got := c.ask(manifest, args...)
	if got != code {
		c.t.Errorf("plan of %s ends with %d, want %d: %+v", status.Answers[0].Name, got, code, status)
	}
	return status
}

// ask simulates a manifest with `vcctl plan` and returns the answer with the exit code.
func (c *cluster) ask(manifest string, args ...string) (*insightv1alpha1.PlanStatus, int) {
	c.t.Helper()
	r := c.run(manifest, "vcctl", append([]string{"plan", "-o", "json", "-f", "-"}, args...)...)
	var p insightv1alpha1.Plan
	if err := json.Unmarshal([]byte(r.stdout), &p); err != nil {
		c.t.Fatalf("plan: %v\n%s%s", err, r.stdout, r.stderr)
	}
	return &p.Status, r.code
}

// planEdit simulates a change of a queue.
func (c *cluster) planEdit(queue, set string) *insightv1alpha1.PlanStatus {
	c.t.Helper()
	text := c.must("", "vcctl", "plan", "-o", "json", "--queue-edit", queue, "--set", set)
	var p insightv1alpha1.Plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		c.t.Fatalf("plan: %v\n%s", err, text)
	}
	return &p.Status
}

func TestWhatAPlanSaysIsWhatThenHappens(t *testing.T) {
	c := fourCores(t)
	c.create(queue("test1", "weight: 1"))
	for _, job := range [][2]string{{"job1", "1"}, {"job2", "3"}} {
		name, cpu := job[0], job[1]
		said := c.plan(single(name, "test1", cpu).String(), cli.ExitOK).Answers[0]
		if said.Verdict != insightv1alpha1.VerdictStarts || len(said.Placements) != 1 {
			t.Fatalf("%s: %+v", name, said)
		}
		c.create(single(name, "test1", cpu).String())
		if pod := c.running(name, 1, 30*time.Second)[name+"-main-0"]; pod.Spec.NodeName != said.Placements[0].Node {
			t.Errorf("%s runs on %s, the plan said %s", name, pod.Spec.NodeName, said.Placements[0].Node)
		}
	}

	waits := c.plan(single("more", "test1", "2").String(), cli.ExitPending).Answers[0]
	c.create(single("more", "test1", "2").String())
	if pg := c.waits("more", 20*time.Second); pg.Status.Explanation.Reason != waits.Explanation.Reason || pg.Status.Explanation.Message != waits.Explanation.Message {
		t.Errorf("it waits because of %s: %s, the plan said %s: %s",
			pg.Status.Explanation.Reason, pg.Status.Explanation.Message, waits.Explanation.Reason, waits.Explanation.Message)
	}
	c.must("", "vcctl", "job", "delete", "more", "--wait")
	c.plan(single("huge", "test1", "64").String(), cli.ExitNever)
	if never := c.plan(single("stray", "nowhere", "1").String(), cli.ExitNever).Answers[0]; len(never.Problems) != 1 || never.Problems[0].Field != "spec.queue" {
		t.Errorf("a job for no queue: %+v", never)
	}

	h := c.record()
	both := queue("test2", "weight: 3") + single("job3", "test2", "3").String()
	answers := c.plan(both, cli.ExitOK).Answers
	var victims []string
	for _, v := range answers[1].Victims {
		victims = append(victims, v.Pod)
	}
	if len(h.deleted()) > 0 || len(victims) == 0 {
		t.Fatalf("%v are gone after a plan with the victims %v", h.deleted(), victims)
	}
	c.create(both)
	c.running("job3", 1, 30*time.Second)
	gone := h.deleted()
	slices.Sort(gone)
	if diff := cmp.Diff(victims, gone); diff != "" {
		t.Errorf("victims (-foretold +evicted):\n%s", diff)
	}

	// With a greater weight, the queue that lost a job would reclaim the resources. Its share would be too small for
	// both of its jobs, but sufficient for one. The simulation must agree with the scheduler.
	c.waits("job2", 30*time.Second)
	if change := c.planEdit("test1", "weight=12"); change.VictimCount > 0 {
		t.Errorf("with two jobs: %+v", change)
	}
	c.must("", "vcctl", "job", "delete", "job1", "--wait")
	c.waits("job2", 30*time.Second)
	victims = nil
	for _, v := range c.planEdit("test1", "weight=12").Victims {
		victims = append(victims, v.Pod)
	}
	before := len(h.deleted())
	c.must("", "vcctl", "queue", "update", "test1", "--weight", "12")
	c.running("job2", 1, 30*time.Second)
	gone = h.deleted()[before:]
	if diff := cmp.Diff(victims, gone); diff != "" || len(victims) == 0 {
		t.Errorf("victims of the queue's change (-foretold +evicted):\n%s", diff)
	}
	var left insightv1alpha1.PlanList
	if err := c.List(context.Background(), &left); err != nil || len(left.Items) > 0 {
		t.Errorf("plans are left: %v %v", left.Items, err)
	}
}
