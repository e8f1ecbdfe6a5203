package easy

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/vc-batch/vc/test/propertytest"
)

var (
	tracesFlag = flag.Int("easy.traces", 0, "generated traces for each kind of machine; by default 2, or 200 with VC_SEEDS=full")
	jobsFlag   = flag.Int("easy.jobs", 0, "jobs of a trace; by default 200, or 600 with VC_SEEDS=full, for queues hundreds deep")
)

// traces returns how many traces a test compares.
func traces() int { return byDefault(*tracesFlag, 2, 200) }

// jobsPerTrace returns how many jobs a trace has.
func jobsPerTrace() int { return byDefault(*jobsFlag, 200, 600) }

// byDefault returns the value of a flag, or a default that depends on VC_SEEDS.
func byDefault(given, usual, full int) int {
	switch {
	case given > 0:
		return given
	case propertytest.Full():
		return full
	}
	return usual
}

// trace returns the i-th generated trace of n jobs for 64 processors. The traces differ in load and in the accuracy of
// their estimates.
func trace(i, n int) []Job {
	random := rand.New(rand.NewPCG(uint64(i), 7))
	loads := []float64{.8, 1, 1.3, 2}
	list := Loaded(OneType(3.5, 6).Generate(random, n), 64, loads[i%len(loads)])
	if i/len(loads)%2 == 0 {
		return Estimated(random, list, 5)
	}
	return list
}

// meanWait returns the mean time between submission and start.
func meanWait(jobs []Job, starts []int) float64 {
	sum, n := 0.0, 0
	for i, j := range jobs {
		if starts[i] >= 0 {
			sum += float64(starts[i] - j.Submit)
			n++
		}
	}
	return sum / float64(max(n, 1))
}

// compared is a run of the engine together with the results of the reference.
type compared struct {
	Result
	jobs               []Job
	differ             int
	wait, waitExpected float64
	idle               float64 // part of the processor time that was idle but usable
}

func compare(t *testing.T, jobs []Job, layout Layout, policy func([]Job, int, []running, int) []int) compared {
	t.Helper()
	want := Simulate(jobs, layout.Procs(), policy)
	result, err := Run(jobs, layout)
	if err != nil {
		t.Fatal(err)
	}
	c := compared{Result: result, jobs: jobs, wait: meanWait(jobs, result.Starts), waitExpected: meanWait(jobs, want)}
	for i := range jobs {
		if want[i] != result.Starts[i] {
			c.differ++
		}
	}
	c.idle = float64(result.IdleUsable) / float64(layout.Procs()*max(result.Makespan, 1))
	t.Logf("%d of %d starts differ; mean wait %.0f s, reference %.0f s; %.3f %% of the processor time idle and usable; queue up to %d, pending pods up to %d, %d cycles",
		c.differ, len(jobs), c.wait, c.waitExpected, 100*c.idle, result.DeepestQueue, result.MostPendingPods, result.Cycles)
	if testing.Verbose() {
		for _, different := range result.Different {
			t.Log(different)
		}
	}
	for i, delayed := range result.Delayed {
		if i < 3 {
			t.Errorf("a head of the queue was delayed: %s", delayed)
		}
	}
	return c
}

// TestOneNodeStartsLikeEASY checks that on one large node every job starts when the reference starts it.
func TestOneNodeStartsLikeEASY(t *testing.T) {
	for i := range traces() {
		t.Run(fmt.Sprintf("trace %d", i), func(t *testing.T) {
			c := compare(t, trace(i, jobsPerTrace()), Layout{Nodes: 1, ProcsPerNode: 64, OnePod: true}, EASY)
			if c.differ > 0 {
				t.Errorf("%d starts differ from EASY, want none", c.differ)
			}
			if c.MostPendingPods > 16+64 {
				t.Errorf("%d pods were pending, want those of 16 jobs and of those that start", c.MostPendingPods)
			}
		})
	}
}

// TestTracesThatDifferedOnce checks traces in which a job behind the head once was delayed or started by mistake.
func TestTracesThatDifferedOnce(t *testing.T) {
	for name, c := range map[string]struct{ number, jobs int }{
		"a short candidate was counted as if it still ran when the head starts":      {40, 300},
		"all gangs inside the queue start at once and the next head has no pods yet": {21, 200},
	} {
		t.Run(name, func(t *testing.T) {
			if c := compare(t, trace(c.number, c.jobs), Layout{Nodes: 1, ProcsPerNode: 64, OnePod: true}, EASY); c.differ > 0 {
				t.Errorf("%d starts differ from EASY, want none", c.differ)
			}
		})
	}
}

// TestGangsOverManyNodesStartLikeEASY checks that gangs over many nodes leave no processors idle that a job behind the
// head could use, and do not wait longer than in the reference.
func TestGangsOverManyNodesStartLikeEASY(t *testing.T) {
	layouts := []Layout{{Nodes: 64, ProcsPerNode: 1}, {Nodes: 16, ProcsPerNode: 4}, {Nodes: 8, ProcsPerNode: 8}, {Nodes: 2, ProcsPerNode: 32}}
	for i := range traces() {
		layout := layouts[(i/2+i/8)%len(layouts)] // combines each layout with each load and kind of estimate
		t.Run(fmt.Sprintf("trace %d on %d nodes", i, layout.Nodes), func(t *testing.T) {
			c := compare(t, trace(i, jobsPerTrace()), layout, EASY)
			if c.idle > .001 {
				t.Errorf("%.2f %% of the processor time was idle and usable, want less than 0.1 %%", 100*c.idle)
			}
			if math.Abs(c.wait-c.waitExpected) > .01*c.waitExpected {
				t.Errorf("the mean wait is %.0f s, want %.0f s within 1 %%", c.wait, c.waitExpected)
			}
		})
	}
}

// TestStrictQueueStartsLikeFCFS checks that in a queue with strategy fifo every job starts when FCFS starts it.
func TestStrictQueueStartsLikeFCFS(t *testing.T) {
	for i := range traces() {
		t.Run(fmt.Sprintf("trace %d", i), func(t *testing.T) {
			if c := compare(t, trace(i, jobsPerTrace()), Layout{Nodes: 1, ProcsPerNode: 64, OnePod: true, Strict: true}, FCFS); c.differ > 0 {
				t.Errorf("%d starts differ from FCFS, want none", c.differ)
			}
		})
	}
}
