package easy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReferenceStarts checks the starts of small traces on four processors, computed by hand.
func TestReferenceStarts(t *testing.T) {
	job := func(submit, procs, run, estimate int) Job {
		return Job{Submit: submit, Procs: procs, Run: run, Estimate: estimate}
	}
	for name, c := range map[string]struct {
		jobs       []Job
		fcfs, easy []int
	}{
		"a short job passes a wide one": {
			[]Job{job(0, 3, 10, 10), job(1, 4, 5, 5), job(2, 1, 8, 8)}, []int{0, 10, 15}, []int{0, 10, 2},
		},
		"a long one does not": {
			[]Job{job(0, 3, 10, 10), job(1, 4, 5, 5), job(2, 1, 9, 9)}, []int{0, 10, 15}, []int{0, 10, 15},
		},
		"a long one beside the head does": {
			[]Job{job(0, 3, 10, 10), job(1, 3, 5, 5), job(2, 1, 99, 99)}, []int{0, 10, 10}, []int{0, 10, 2},
		},
		"the estimate decides, not the run time": {
			[]Job{job(0, 3, 10, 10), job(1, 4, 5, 5), job(2, 1, 2, 20)}, []int{0, 10, 15}, []int{0, 10, 15},
		},
		"what ends early lets the head start early": {
			[]Job{job(0, 3, 10, 100), job(1, 4, 5, 5), job(2, 1, 20, 20)}, []int{0, 10, 15}, []int{0, 22, 2},
		},
		"completions come before arrivals of the same instant": {
			[]Job{job(0, 4, 10, 10), job(10, 4, 5, 5)}, []int{0, 10}, []int{0, 10},
		},
		"all ends of the shadow time count": {
			[]Job{job(0, 1, 10, 10), job(0, 1, 10, 10), job(0, 2, 20, 20), job(1, 1, 5, 5), job(2, 1, 50, 50)},
			[]int{0, 0, 0, 10, 10}, []int{0, 0, 0, 10, 10},
		},
		"what cannot run is left out": {
			[]Job{job(0, 5, 10, 10), job(0, 0, 10, 10), job(0, 1, 0, 0), job(0, 4, 1, 1)}, []int{-1, -1, -1, 0}, []int{-1, -1, -1, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.jobs {
				c.jobs[i].ID = i
			}
			if diff := cmp.Diff(c.fcfs, Simulate(c.jobs, 4, FCFS)); diff != "" {
				t.Errorf("FCFS (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.easy, Simulate(c.jobs, 4, EASY)); diff != "" {
				t.Errorf("EASY (-want +got):\n%s", diff)
			}
		})
	}
}
