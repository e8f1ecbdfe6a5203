package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/vc-batch/vc/test/apiserver"
)

func init() {
	registerAction("partial-bind", 1, func(s *drawing) *action {
		size := 2 + s.Int32N(3)
		job := newSimpleJob(s.newJobName(), s.queueNames()[s.IntN(len(s.queueNames()))], size, "1")
		s.plain++
		rivals, count := fmt.Sprintf("rival-%d", s.plain), 0
		for _, milliCPU := range s.setting.nodes {
			count += int(milliCPU / 1000) // no node has room for the last pod of the job
		}
		refused := &refusal{
			kind: &requestKind{"scheduler", apiserver.Create, "binding", "Pod", "binding of a pod"},
			job:  fmt.Sprintf("%s-t0-%d", job.Name, size-1), code: []refusalCode{forbidden, conflict}[s.IntN(2)],
		}
		pause, length := between(s.Rand, 100*time.Millisecond, 2*time.Second), between(s.Rand, 3*time.Second, 15*time.Second)
		return s.action(func(w *World) {
			w.refusals = append(w.refusals, refused)
			w.users.submit(job)
			w.add(w.now.Add(pause), nil, func() { w.createForeignPods(rivals, count) })
			w.add(w.now.Add(length), nil, func() {
				w.refusals = slices.DeleteFunc(w.refusals, func(r *refusal) bool { return r == refused })
			})
		}, "for %s, the API server rejects the binding of the last pod of the new job %s (%s) with %s; %s later, user creates %d pods %s of cpu 1 for another scheduler",
			length.Round(time.Second), job.Name, describeJob(job), refused.code, pause.Round(100*time.Millisecond), count, rivals)
	})
}
