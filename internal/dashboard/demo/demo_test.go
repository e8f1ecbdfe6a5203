package demo

import (
	"context"
	"strings"
	"sync"
	"testing"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

func next(t *testing.T, c *Cluster) *snapshot.Snapshot {
	t.Helper()
	snap, err := c.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func TestVerbsChangeTheStateOfAJobAndFreeItsResources(t *testing.T) {
	t.Parallel()
	for verb, want := range map[screenapi.Verb]string{
		screenapi.Suspend: "Aborted", screenapi.Requeue: "Restarting", screenapi.Cancel: "Terminated", screenapi.Delete: "deleted", screenapi.Hold: "Pending held",
	} {
		c := New()
		before := next(t, c)
		job := before.Job("job-918") // runs on all GPUs of 16 nodes
		used := before.Queue("nlp").Object.Status.Allocated[GPU]
		said, err := c.Jobs(t.Context(), verb, []*snapshot.Job{job})
		if err != nil || said != string(verb)+": 1 job" {
			t.Errorf("%s: %q, %v", verb, said, err)
		}
		after := next(t, c)
		if got := stateOf(after.Job("job-918")); got != want {
			t.Errorf("%s: the job is %s, want %s", verb, got, want)
		}
		if now := after.Queue("nlp").Object.Status.Allocated[GPU]; used.Value()-now.Value() != 128 {
			t.Errorf("%s: the queue used %s GPUs and uses %s", verb, used.String(), now.String())
		}
		if before.Job("job-918").Phase != batchv1alpha1.Running || before.Queue("nlp").Object.Status.Allocated[GPU] != used {
			t.Errorf("%s: the earlier snapshot was changed", verb)
		}
	}
}

func stateOf(job *snapshot.Job) string {
	switch {
	case job == nil:
		return "deleted"
	case job.Object.Annotations["vc-batch.dev/hold"] != "":
		return string(job.Phase) + " held"
	}
	return string(job.Phase)
}

func TestNodesAndQueuesChange(t *testing.T) {
	t.Parallel()
	c := New()
	do := func(_ string, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	do(c.Node(t.Context(), screenapi.Drain, "r01n01"))
	do(c.Node(t.Context(), screenapi.Uncordon, "r11n05"))
	do(c.Queue(t.Context(), screenapi.CloseIt, "nlp"))
	do(c.EditQueue(t.Context(), "bio", screenapi.QueueEdit{Weight: "7"}))
	snap := next(t, c)
	for _, job := range snap.Jobs {
		for _, pod := range job.Pods {
			if pod.Node == "r01n01" {
				t.Errorf("pod %s is on the drained node", pod.Name)
			}
		}
	}
	if state := snap.Queue("nlp").Object.Status.State; state != schedulingv1beta1.QueueStateClosed {
		t.Errorf("the closed queue is %s", state)
	}
	if weight := snap.Queue("bio").Object.Spec.Weight; weight != 7 {
		t.Errorf("the weight is %d", weight)
	}
	if _, err := c.EditQueue(t.Context(), "bio", screenapi.QueueEdit{Weight: "much"}); err == nil {
		t.Error("an invalid weight is accepted")
	}
	if text, err := c.Manifest(t.Context(), "Node", "", "r11n05"); err != nil || strings.Contains(text, "unschedulable") {
		t.Errorf("the uncordoned node: %v\n%s", err, text)
	}
}

func TestNextWaitsForAChange(t *testing.T) {
	t.Parallel()
	c := New()
	next(t, c)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if snap, err := c.Next(ctx); err == nil {
		t.Errorf("a snapshot without a change: %v", snap.At)
	}
}

func TestSnapshotsCanBeReadWhileObjectsChange(t *testing.T) {
	t.Parallel()
	c := New()
	var changes sync.WaitGroup
	changes.Go(func() {
		for range 20 {
			_, _ = c.Queue(context.Background(), screenapi.CloseIt, "nlp")
			_, _ = c.Node(context.Background(), screenapi.Cordon, "r01n01")
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	go func() { changes.Wait(); stop() }()
	for {
		snap, err := c.Next(ctx)
		if err != nil {
			return
		}
		for _, job := range snap.Jobs {
			if _, err := c.Sheet(t.Context(), job); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestLogsOfFollowedPodsGrow(t *testing.T) {
	t.Parallel()
	c := New()
	logs := NewLogs(c.Now)
	logs.Follow([]screenapi.PodRef{{Name: "a"}, {Name: "b"}})
	var counts []int
	for range 2 {
		view, err := logs.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, len(view.Lines))
		for i, line := range view.Lines {
			if line.Serial != i+1 {
				t.Fatalf("line %d has serial number %d", i, line.Serial)
			}
		}
	}
	if counts[0] != 2*(pastLines+1) || counts[1] != counts[0]+2 {
		t.Errorf("%v lines", counts)
	}
}

func TestAReleasedJobWaitsAsBefore(t *testing.T) {
	t.Parallel()
	c := New()
	before := next(t, c).Job("job-921") // is pending, with an explanation
	for _, verb := range []screenapi.Verb{screenapi.Hold, screenapi.Release} {
		if _, err := c.Jobs(t.Context(), verb, []*snapshot.Job{before}); err != nil {
			t.Fatal(err)
		}
		got := next(t, c).Job("job-921")
		if verb == screenapi.Hold && (stateOf(got) != "Pending held" || !strings.Contains(string(got.Object.Status.State.Reason), "Held")) {
			t.Errorf("after hold: %s, %+v", stateOf(got), got.Object.Status.State)
		}
		if verb == screenapi.Release && (got.Code != before.Code || len(got.Pods) != len(before.Pods) || got.Group == nil) {
			t.Errorf("after release: %s with %d pods, want %s with %d", got.Code, len(got.Pods), before.Code, len(before.Pods))
		}
	}
}
