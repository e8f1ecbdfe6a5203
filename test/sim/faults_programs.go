package sim

import (
	"time"
)

func init() {
	registerAction("crash", 6, onReplica(func(s *drawing, t target) *action {
		restart := between(s.Rand, shortestRestart, longestRestart)
		return s.action(func(w *World) { t.find(w).crash(restart) }, "%s crashes", t)
	}))
	registerAction("pause", 3, onReplica(func(s *drawing, t target) *action {
		length := between(s.Rand, time.Second, 90*time.Second)
		return s.action(func(w *World) { t.find(w).pause(length) }, "%s is paused for %s", t, length.Round(time.Second))
	}))
	registerAction("crash-and-stale-list", 2, onReplica(func(s *drawing, t target) *action {
		changes, restart := 1+s.IntN(20), between(s.Rand, shortestRestart, longestRestart)
		return s.action(func(w *World) {
			w.outdateLists(t.program, changes)
			t.find(w).crash(restart)
		}, "%s crashes, and the first lists of the next %s lag behind by up to %d changes", t, t.program, changes)
	}))
	expectCoverage("crash", 4)
	expectCoverage("pause", 4)
	expectCoverage("outdated first list", 4)
}

// target is a replica of a program, selected by its role at the time of the fault.
type target struct {
	program string // scheduler, controllers or admission
	standby bool   // the replica that does not lead; of admission, which has no leader, the second one
}

func (t target) String() string {
	if t.program == "admission" {
		return map[bool]string{false: "admission-0", true: "admission-1"}[t.standby]
	}
	return "the " + roleName(!t.standby) + " " + t.program
}

func roleName(leads bool) string {
	if leads {
		return "leading"
	}
	return "standby"
}

// role returns the role of the replica now.
func (r *replica) role() string { return roleName(r.leads()) }

// find returns the replica that has the role now. If no replica leads, it returns the first one.
func (t target) find(w *World) *replica {
	var all []*replica
	for _, r := range w.replicas {
		if r.program == t.program {
			all = append(all, r)
		}
	}
	if all[1].leads() != t.standby {
		return all[1]
	}
	return all[0]
}

// outdateLists sets by how many changes the first lists of all next processes of a program may lag behind.
func (w *World) outdateLists(program string, changes int) {
	for _, r := range w.replicas {
		if r.program == program {
			r.stale = changes
		}
	}
}

// onReplica draws an action for one replica of a program. Most faults hit the leader, because a standby only waits.
func onReplica(draw func(s *drawing, t target) *action) func(s *drawing) *action {
	return func(s *drawing) *action {
		program := []string{"scheduler", "scheduler", "controllers", "controllers", "admission"}[s.IntN(5)]
		return draw(s, target{program: program, standby: s.IntN(5) == 0})
	}
}
