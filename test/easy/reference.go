// Package easy compares the scheduler's backfill with references. It contains plain simulators of FCFS and EASY, a
// generator of traces, and a driver that runs the scheduler's engine on a trace in virtual time.
//
// At each instant, both sides handle all completions first, then all arrivals, and then run one scheduling pass. The
// queue is ordered by submission and then by id.
package easy

import (
	"cmp"
	"slices"
)

// running is a started job. end is the actual end, and limit is the end according to the estimate.
type running struct{ procs, end, limit int }

// machine is the state of a reference simulator between two passes.
type machine struct {
	free    int
	running []running
	queue   []Job
	now     int
}

// Simulate returns the start of each job by its index in the trace. The policy, FCFS or EASY, returns the indices in
// the queue of the jobs to start now, in order.
func Simulate(jobs []Job, procs int, policy func(queue []Job, free int, running []running, now int) []int) []int {
	starts := make([]int, len(jobs))
	for i := range starts {
		starts[i] = -1
	}
	at := map[int]int{} // index in the trace by id
	for i, j := range jobs {
		at[j.ID] = i
	}
	arriving := slices.Clone(jobs)
	slices.SortFunc(arriving, func(a, b Job) int { return cmp.Or(cmp.Compare(a.Submit, b.Submit), cmp.Compare(a.ID, b.ID)) })
	m := &machine{free: procs}
	for len(arriving)+len(m.running) > 0 {
		m.now = m.nextInstant(arriving)
		m.running = slices.DeleteFunc(m.running, func(r running) bool {
			if r.end <= m.now {
				m.free += r.procs
			}
			return r.end <= m.now
		})
		for len(arriving) > 0 && arriving[0].Submit <= m.now {
			if j := arriving[0]; j.Run > 0 && j.Procs > 0 && j.Procs <= procs {
				m.queue = append(m.queue, j)
			}
			arriving = arriving[1:]
		}
		chosen := policy(m.queue, m.free, m.running, m.now)
		for _, k := range chosen {
			j := m.queue[k]
			m.free -= j.Procs
			m.running = append(m.running, running{j.Procs, m.now + j.Run, m.now + max(j.Estimate, j.Run)})
			starts[at[j.ID]] = m.now
		}
		slices.Sort(chosen)
		for i := len(chosen) - 1; i >= 0; i-- {
			m.queue = slices.Delete(m.queue, chosen[i], chosen[i]+1)
		}
	}
	return starts
}

func (m *machine) nextInstant(arriving []Job) int {
	next := -1
	if len(arriving) > 0 {
		next = arriving[0].Submit
	}
	for _, r := range m.running {
		if next < 0 || r.end < next {
			next = r.end
		}
	}
	return next
}

// FCFS starts jobs in order. It starts no job behind one that does not fit.
func FCFS(queue []Job, free int, _ []running, _ int) []int {
	var chosen []int
	for k, j := range queue {
		if j.Procs > free {
			break
		}
		free -= j.Procs
		chosen = append(chosen, k)
	}
	return chosen
}

// EASY starts jobs in order. A job behind the first one that does not fit starts if it ends before that one can start,
// or if it uses only processors that are still free then.
func EASY(queue []Job, free int, now []running, clock int) []int {
	chosen := FCFS(queue, free, nil, clock)
	all := slices.Clone(now)
	for _, k := range chosen {
		free -= queue[k].Procs
		all = append(all, running{procs: queue[k].Procs, limit: clock + max(queue[k].Estimate, queue[k].Run)})
	}
	if len(chosen) == len(queue) {
		return chosen
	}
	head := queue[len(chosen)]
	shadow, extra := shadowOf(head.Procs, free, all)
	for k := len(chosen) + 1; k < len(queue); k++ {
		j := queue[k]
		ends := clock+max(j.Estimate, j.Run) <= shadow
		if j.Procs > free || (!ends && j.Procs > extra) {
			continue
		}
		free -= j.Procs
		if !ends {
			extra -= j.Procs
		}
		chosen = append(chosen, k)
	}
	return chosen
}

// shadowOf returns the earliest time at which procs processors are free according to the estimates of the running jobs,
// and how many more are free then. Jobs that end at that instant count as ended.
func shadowOf(procs, free int, now []running) (shadow, extra int) {
	ends := slices.Clone(now)
	slices.SortFunc(ends, func(a, b running) int { return cmp.Compare(a.limit, b.limit) })
	for i, r := range ends {
		free += r.procs
		last := i+1 == len(ends) || ends[i+1].limit > r.limit
		if last && free >= procs {
			return r.limit, free - procs
		}
	}
	return 0, 0
}
