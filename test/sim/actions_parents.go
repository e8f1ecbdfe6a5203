package sim

import (
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

func init() {
	registerAction("command-parent-queue", 2, func(s *drawing) *action {
		var parents []string
		for _, q := range s.setting.queues {
			if q.Name != keys.RootQueue && hasChildren(s.setting.queues, q.Name) {
				parents = append(parents, q.Name)
			}
		}
		if len(parents) == 0 {
			return nil
		}
		queue := parents[s.IntN(len(parents))]
		command := []busv1alpha1.Action{busv1alpha1.OpenQueueAction, busv1alpha1.CloseQueueAction}[s.IntN(2)]
		return s.action(func(w *World) { w.users.commandQueue(queue, command) }, "administrator sends the command %s to queue %s and its children", command, queue)
	})
}
