package sim

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
)

var cronJobKind = batchv1alpha1.GroupVersion.WithKind("CronJob")

func init() {
	registerAction("create-cronjob", 1, func(s *drawing) *action {
		s.plain++
		name := fmt.Sprintf("cron-%d", s.plain)
		cron := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: userNamespace, Name: name}}
		cron.Spec.Schedule = "* * * * *"
		cron.Spec.ConcurrencyPolicy = []batchv1alpha1.ConcurrencyPolicy{batchv1alpha1.AllowConcurrent, batchv1alpha1.ForbidConcurrent, batchv1alpha1.ReplaceConcurrent}[s.IntN(3)]
		cron.Spec.SuccessfulJobsHistoryLimit, cron.Spec.FailedJobsHistoryLimit = ptr.To(s.Int32N(3)), ptr.To(s.Int32N(2))
		job := newSimpleJob("", s.queueNames()[s.IntN(len(s.queueNames()))], 1+s.Int32N(2), "500m")
		cron.Spec.JobTemplate.Spec = job.Spec
		return s.action(func(w *World) {
			w.users.create(cronJobKind, cron)
			w.add(epoch.Add(storyLength+cronTime), nil, func() { w.users.suspendCronJob(name) })
		}, "user creates %s, which starts a job each minute, with policy %s, and keeps %d completed and %d failed jobs: %s", name, cron.Spec.ConcurrencyPolicy,
			*cron.Spec.SuccessfulJobsHistoryLimit, *cron.Spec.FailedJobsHistoryLimit, describeJob(job))
	})
}

// suspendCronJob suspends a CronJob, so that the world ends. It tries again until this succeeds.
func (u *users) suspendCronJob(name string) {
	for _, o := range u.world.objectsAt(cronJobKind, len(u.world.changes[cronJobKind])) {
		if o.GetName() != name {
			continue
		}
		update := o.DeepCopyObject().(*batchv1alpha1.CronJob)
		update.Spec.Suspend = ptr.To(true)
		_, err := u.do(&apiserver.Request{Verb: apiserver.Update, Kind: cronJobKind, Namespace: o.GetNamespace(), Name: name, Object: update})
		if err != nil {
			u.world.add(u.world.now.Add(time.Second), nil, func() { u.suspendCronJob(name) })
		}
	}
}
