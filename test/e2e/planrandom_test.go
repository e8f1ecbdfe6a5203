package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// foretelling submits random jobs to a cluster after simulating each of them.
type foretelling struct {
	*cluster
	random *rand.Rand
	seen   map[string]int
	events *history
	// there lists the jobs in the cluster, and ours the jobs that the test has deleted itself.
	there []string
	ours  map[string]bool
}

// TestPlansOfRandomJobsComeTrue simulates about three dozen random jobs with `vcctl plan`, each on a different state of
// the cluster, and then submits them. The prediction must come true, with the same nodes and the same victims.
// internal/whatif has the same test for hundreds of clusters without an API server.
func TestPlansOfRandomJobsComeTrue(t *testing.T) {
	c := startCluster(t, "--process-nodes", "0", "--simulated-nodes", "3", "--node-cpu", "4", "--node-memory", "64Gi", "--simulated-start", "10ms")
	high := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "high"}, Value: 1000}
	if err := c.Create(context.Background(), high); err != nil {
		t.Fatal(err)
	}
	c.create(queue("a", "weight: 1") + queue("b", "weight: 2"))
	f := &foretelling{cluster: c, random: rand.New(rand.NewPCG(5, 5)), seen: map[string]int{}, events: c.record(), ours: map[string]bool{}}
	for i := range 36 {
		f.round(fmt.Sprintf("j%d", i))
		if t.Failed() {
			return
		}
	}
	t.Logf("foretold: %v", f.seen)
	for _, kind := range []string{"starts", "starts by evictions", "waits", "never", "refused"} {
		if f.seen[kind] == 0 {
			t.Errorf("no job %s: %v", kind, f.seen)
		}
	}
}

// draw returns a random job.
func (f *foretelling) draw(name string) job {
	j := job{name: name, queue: []string{"a", "b"}[f.random.IntN(2)]}
	asks := 1 + f.random.IntN(4)
	switch f.random.IntN(10) {
	case 0:
		j.queue = "nowhere"
	case 1:
		asks = 9 // more than a node has
	}
	pods := 1 + f.random.IntN(3)
	j.min = pods
	if f.random.IntN(4) == 0 {
		j.min = 1
	}
	if f.random.IntN(2) == 0 {
		j.extra = "priorityClassName: high"
	}
	j.tasks = []task{{name: "main", replicas: pods, cpu: fmt.Sprint(asks), command: "exec sleep 600"}}
	return j
}

// round changes the cluster, draws a job, simulates it, submits it and compares the results.
func (f *foretelling) round(name string) {
	if len(f.there) > 0 && f.random.IntN(6) == 0 {
		f.drop(f.there[f.random.IntN(len(f.there))])
	}
	j := f.draw(name)
	manifest := j.String()
	said, code := f.planned(manifest)
	what := fmt.Sprintf("%s (%d of %d pods of %s cpu in %s %s): %s", name, j.min, j.tasks[0].replicas, j.tasks[0].cpu, j.queue, j.extra, said.Message)
	want := map[insightv1alpha1.Verdict]int{insightv1alpha1.VerdictStarts: cli.ExitOK, insightv1alpha1.VerdictWaits: cli.ExitPending, insightv1alpha1.VerdictNever: cli.ExitNever}
	if code != want[said.Verdict] {
		f.t.Errorf("%s: the plan ends with %d, want %d", what, code, want[said.Verdict])
	}
	if len(said.Problems) > 0 {
		f.seen["refused"]++
		if r := f.run(manifest, "kubectl", "create", "-f", "-"); r.code == 0 {
			f.t.Errorf("%s: and the server takes it", what)
		}
		return
	}
	f.create(manifest)
	f.there = append(f.there, name)
	if said.Verdict == insightv1alpha1.VerdictStarts {
		f.started(name, what, said)
		return
	}
	told := f.waits(name, 20*time.Second).Status.Explanation
	if diff := cmp.Diff([]any{said.Explanation.Reason, said.Explanation.Message, said.Verdict == insightv1alpha1.VerdictNever}, []any{told.Reason, told.Message, told.Never}); diff != "" {
		f.t.Errorf("%s: (-foretold +told):\n%s", what, diff)
	}
	f.seen[strings.ToLower(string(said.Verdict))]++
	f.drop(name)
}

// planned returns the prediction for one job, and the exit code.
func (f *foretelling) planned(manifest string) (insightv1alpha1.Answer, int) {
	f.t.Helper()
	status, code := f.ask(manifest)
	return status.Answers[0], code
}

// started checks that a job starts as predicted: with this number of pods, on these nodes, and with these victims.
func (f *foretelling) started(name, what string, said insightv1alpha1.Answer) {
	pods := f.running(name, int(said.Starting), 30*time.Second)
	if len(said.Victims) == 0 {
		f.seen["starts"]++
		want, got := map[string]int32{}, map[string]int32{}
		for _, place := range said.Placements {
			want[place.Node] += place.Pods
		}
		for _, pod := range pods {
			if pod.Spec.NodeName != "" {
				got[pod.Spec.NodeName]++
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			f.t.Errorf("%s: nodes (-foretold +happened):\n%s", what, diff)
		}
	} else {
		f.seen["starts by evictions"]++
	}
	var foretold, gone []string
	losers := map[string]bool{}
	for _, v := range said.Victims {
		foretold = append(foretold, v.Pod)
		losers[v.Job] = true
	}
	for _, pod := range f.events.deleted() {
		if job, _, _ := strings.Cut(pod, "-"); !f.ours[job] {
			gone = append(gone, pod)
		}
	}
	slices.Sort(foretold)
	slices.Sort(gone)
	if diff := cmp.Diff(foretold, gone); diff != "" {
		f.t.Errorf("%s: victims (-foretold +happened):\n%s", what, diff)
	}
	for loser := range losers {
		f.drop(loser)
	}
}

// drop deletes a job, and waits until all its objects are deleted.
func (f *foretelling) drop(name string) {
	f.ours[name] = true
	f.there = slices.DeleteFunc(f.there, func(other string) bool { return other == name })
	f.must("", "vcctl", "job", "delete", name, "--wait")
}
