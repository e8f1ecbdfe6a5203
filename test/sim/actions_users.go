package sim

import (
	"fmt"

	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

func init() {
	registerAction("submit-job", 22, func(s *drawing) *action {
		name := fmt.Sprintf("job-%d", len(s.jobs))
		s.jobs = append(s.jobs, name)
		job := drawJob(s.Rand, name, s.queueNames())
		return s.action(func(w *World) { w.users.submit(job) }, "user submits %s: %s", name, describeJob(job))
	})
	registerAction("delete-job", 3, onJob(func(s *drawing, job string) *action {
		return s.action(func(w *World) { w.users.deleteJob(job) }, "user deletes %s", job)
	}))
	registerAction("scale-job", 4, onJob(func(s *drawing, job string) *action {
		replicas := s.Int32N(6)
		return s.action(func(w *World) { w.users.scale(job, replicas) }, "user scales task t0 of %s to %d", job, replicas)
	}))
	registerAction("command-job", 5, onJob(func(s *drawing, job string) *action {
		action := []busv1alpha1.Action{busv1alpha1.AbortJobAction, busv1alpha1.ResumeJobAction, busv1alpha1.ResumeJobAction, busv1alpha1.RestartJobAction,
			busv1alpha1.CompleteJobAction, busv1alpha1.TerminateJobAction}[s.IntN(6)]
		return s.action(func(w *World) { w.users.command(job, action) }, "user sends the command %s to %s", action, job)
	}))
	registerAction("delete-pod", 5, onJob(func(s *drawing, job string) *action {
		index := s.IntN(6)
		return s.action(func(w *World) { w.users.evictPod(job, index) }, "administrator deletes pod %d of %s", index, job)
	}))
	registerAction("set-capability", 2, onQueue(func(s *drawing, queue string) *action {
		cpu := int64(1 + s.IntN(8))
		return s.action(func(w *World) {
			w.users.changeQueue(queue, func(spec *schedulingv1beta1.QueueSpec) {
				spec.Capability, spec.Deserved = cpuList(cpu), spec.Guarantee.Resource
			})
		}, "administrator sets the capability of queue %s to cpu %d", queue, cpu)
	}))
	registerAction("command-queue", 2, onQueue(func(s *drawing, queue string) *action {
		action := []busv1alpha1.Action{busv1alpha1.OpenQueueAction, busv1alpha1.CloseQueueAction}[s.IntN(2)]
		return s.action(func(w *World) { w.users.commandQueue(queue, action) }, "administrator sends the command %s to queue %s", action, queue)
	}))
}

// onJob draws an action for a job that was submitted before.
func onJob(draw func(s *drawing, job string) *action) func(s *drawing) *action {
	return func(s *drawing) *action {
		if len(s.jobs) == 0 {
			return nil
		}
		return draw(s, s.jobs[s.IntN(len(s.jobs))])
	}
}

// onQueue draws an action for a queue that can contain jobs, except for the default queue.
func onQueue(draw func(s *drawing, queue string) *action) func(s *drawing) *action {
	return func(s *drawing) *action {
		names := s.queueNames()
		if len(names) < 2 {
			return nil
		}
		return draw(s, names[1+s.IntN(len(names)-1)])
	}
}
