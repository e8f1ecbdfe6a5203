package sim

import (
	"time"
)

func init() {
	registerAction("crash", 6, onReplica(func(s *drawing, index int, name string) *action {
		return s.action(func(w *World) { w.replicas[index].crash(w.randomFor("crash of " + name)) }, "%s crashes", name)
	}))
	registerAction("pause", 3, onReplica(func(s *drawing, index int, name string) *action {
		length := between(s.Rand, time.Second, 90*time.Second)
		return s.action(func(w *World) { w.replicas[index].pause(length) }, "%s is paused for %s", name, length.Round(time.Second))
	}))
	registerAction("crash-and-stale-list", 2, onReplica(func(s *drawing, index int, name string) *action {
		changes := 1 + s.IntN(20)
		return s.action(func(w *World) {
			w.replicas[index].stale = changes
			w.replicas[index].crash(w.randomFor("crash of " + name))
		}, "%s crashes, and the first lists of its next process lag behind by up to %d changes", name, changes)
	}))
}

// replicaNames are the names of the programs, in the order of World.replicas.
var replicaNames = []string{"scheduler-0", "controllers-0", "admission-0", "scheduler-1", "controllers-1", "admission-1"}

// onReplica draws an action for one of the programs.
func onReplica(draw func(s *drawing, index int, name string) *action) func(s *drawing) *action {
	return func(s *drawing) *action {
		index := s.IntN(len(replicaNames))
		return draw(s, index, replicaNames[index])
	}
}
