package sim

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/apiserver"
)

func init() {
	registerAction("submit-held-job", 2, func(s *drawing) *action {
		job, released := drawGatedJob(s), between(s.Rand, time.Second, 2*time.Minute)
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, keys.Hold, keys.HoldUser)
		return s.action(func(w *World) {
			w.users.submit(job)
			w.users.releaseLater(job.Name, released)
		}, "user submits %s and holds it for %s: %s", job.Name, released.Round(time.Second), describeJob(job))
	})
	registerAction("submit-job-for-later", 2, func(s *drawing) *action {
		job, pause := drawGatedJob(s), between(s.Rand, time.Second, 2*time.Minute)
		begin := epoch.Add(s.at + pause).Truncate(time.Second)
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, keys.Begin, begin.Format(time.RFC3339))
		return s.action(func(w *World) { w.users.submit(job) },
			"user submits %s, which does not start before %s: %s", job.Name, formatTime(begin.Sub(epoch)), describeJob(job))
	})
	registerAction("submit-dependent-job", 3, onJob(func(s *drawing, target string) *action {
		kinds := []batchv1alpha1.DependencyKind{batchv1alpha1.AfterAny, batchv1alpha1.AfterOK, batchv1alpha1.AfterNotOK, batchv1alpha1.After}
		kind := kinds[s.IntN(len(kinds))]
		job := drawGatedJob(s)
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, keys.Dependency, fmt.Sprintf("%s:%s", kind, target))
		return s.action(func(w *World) { w.users.submit(job) },
			"user submits %s, which depends on %s of %s: %s", job.Name, kind, target, describeJob(job))
	}))
	registerAction("hold-job", 2, onJob(func(s *drawing, job string) *action {
		released := between(s.Rand, time.Second, 2*time.Minute)
		return s.action(func(w *World) {
			w.users.setHold(job, `"`+keys.HoldUser+`"`)
			w.users.releaseLater(job, released)
		}, "user holds %s for %s", job, released.Round(time.Second))
	}))
	expectCoverage("gate of a job", 4)
}

// drawGatedJob draws a job that starts when it has a place.
func drawGatedJob(s *drawing) *batchv1alpha1.Job {
	queues := s.queueNames()
	return newSimpleJob(s.newJobName(), queues[s.IntN(len(queues))], 1+s.Int32N(3), "1")
}

// setHold sets the annotation that holds a job to a JSON value, as vcctl hold does. null releases the job.
func (u *users) setHold(name, value string) {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, keys.Hold, value)
	_, _ = u.do(&apiserver.Request{Verb: apiserver.Patch, Kind: jobKind, Namespace: userNamespace, Name: name, PatchType: types.MergePatchType, Patch: patch})
}

// releaseRetry is the pause after which a user tries again to release a job.
const releaseRetry = 5 * time.Second

// releaseLater releases a held job after a pause. It repeats the request until the job is released or gone.
func (u *users) releaseLater(name string, pause time.Duration) {
	u.world.add(u.world.now.Add(pause), nil, func() {
		u.setHold(name, "null")
		if job := u.world.job(name); job != nil && job.Annotations[keys.Hold] != "" {
			u.releaseLater(name, releaseRetry)
		}
	})
}
