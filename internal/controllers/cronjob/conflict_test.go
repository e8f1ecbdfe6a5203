package cronjob

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
)

// TestWhatTheAPIServerAnswers covers every response to the creation and the deletion of a job: the events, the last
// scheduled time in the status, and whether there is a retry.
func TestWhatTheAPIServerAnswers(t *testing.T) {
	const due = "c-29751843" // three minutes past midnight, 27 July 2026
	jobs := schema.GroupResource{Group: batchv1alpha1.GroupVersion.Group, Resource: "jobs"}
	ending := apierrors.NewForbidden(jobs, due, errors.New("the namespace is being terminated"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	of := func(uid types.UID, phase batchv1alpha1.JobPhase) *batchv1alpha1.Job {
		j := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: due, Namespace: "default"}, Spec: jobTemplate.Spec}
		if uid != "" {
			j.OwnerReferences = []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "CronJob", Name: "c", UID: uid, Controller: new(true)}}
		}
		j.Status.State.Phase = phase
		return j
	}
	old := of("cron", batchv1alpha1.Running)
	old.Name = "c-29751842"
	cases := map[string]struct {
		policy         batchv1alpha1.ConcurrencyPolicy
		cached, unseen *batchv1alpha1.Job // a job in the cache, and one that only the API server has
		create, delete error
		events         []string
		active         []string
		scheduled      bool
		again          bool
	}{
		"it is made": {events: []string{"Normal SuccessfulCreate Created job " + due}, active: []string{due}, scheduled: true},
		"a job of others has the name": {unseen: of("", batchv1alpha1.Running), scheduled: true,
			events: []string{"Warning ForeignJob job " + due + " exists but does not belong to this CronJob, so no job is created for this time; delete the job or rename the CronJob"}},
		"the job of a CronJob of the same name, which is gone, has the name": {unseen: of("another", batchv1alpha1.Running), scheduled: true,
			events: []string{"Warning ForeignJob job " + due + " exists but does not belong to this CronJob, so no job is created for this time; delete the job or rename the CronJob"}},
		"it was made before, and runs":    {unseen: of("cron", batchv1alpha1.Running), active: []string{due}, scheduled: true},
		"it was made before, and is over": {unseen: of("cron", batchv1alpha1.Completed), scheduled: true},
		"the namespace is being deleted":  {create: ending, scheduled: true, events: []string{"Warning NamespaceTerminating job not created: the namespace is being deleted"}},
		"the API server refuses it":       {create: errors.New("no"), again: true, events: []string{"Warning FailedCreate job " + due + ": no"}},
		"another one is replaced": {policy: batchv1alpha1.ReplaceConcurrent, cached: old, active: []string{due}, scheduled: true, events: []string{
			"Normal ReplaceConcurrent Job c-29751842 is replaced by the job scheduled for 2026-07-27T00:03:00Z", "Normal SuccessfulDelete Deleted job c-29751842", "Normal SuccessfulCreate Created job " + due}},
		"another one cannot be deleted": {policy: batchv1alpha1.ReplaceConcurrent, cached: old, delete: errors.New("no"), again: true, events: []string{
			"Normal ReplaceConcurrent Job c-29751842 is replaced by the job scheduled for 2026-07-27T00:03:00Z", "Warning FailedDelete job c-29751842: no"}},
		"another one is no longer what was seen": {policy: batchv1alpha1.ReplaceConcurrent, cached: old, delete: apierrors.NewConflict(jobs, "c-29751842", errors.New("uid")), active: []string{due}, scheduled: true,
			events: []string{"Normal ReplaceConcurrent Job c-29751842 is replaced by the job scheduled for 2026-07-27T00:03:00Z", "Normal SuccessfulDelete Deleted job c-29751842", "Normal SuccessfulCreate Created job " + due}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(29751843*60, 0).UTC()
			server := apiserver.New(scheme, func() time.Time { return now })
			now = now.Add(-time.Minute)
			cron := server.Save(&batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"},
				Spec: batchv1alpha1.CronJobSpec{Schedule: "* * * * *", TimeZone: new("UTC"), ConcurrencyPolicy: c.policy, JobTemplate: jobTemplate}})
			save := func(job *batchv1alpha1.Job) {
				if job == nil {
					return
				}
				job = job.DeepCopy()
				if len(job.OwnerReferences) > 0 && job.OwnerReferences[0].UID == "cron" {
					job.OwnerReferences[0].UID = cron.GetUID()
				}
				server.Save(job)
			}
			now = now.Add(time.Minute)
			save(c.cached)
			seen := apiserver.NewCache(append(server.Objects(kindOfCronJobs), server.Objects(kindOfJobs)...)...)
			save(c.unseen)
			api := apiserver.NewConnection(server)
			api.Rejected = map[string]error{"create Job default/" + due: c.create, "delete Job default/c-29751842": c.delete}
			recorder := record.NewFakeRecorder(10)
			r := New(Options{Cache: seen, API: api.Client(), Recorder: recorder, Now: func() time.Time { return now }})
			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(cron)})
			if (err != nil) != c.again {
				t.Errorf("error %v, to be tried again: %v", err, c.again)
			}
			close(recorder.Events)
			var events []string
			for e := range recorder.Events {
				events = append(events, e)
			}
			if diff := cmp.Diff(c.events, events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			after := apiserver.Find[*batchv1alpha1.CronJob](server, "default", "c")
			var active []string
			for _, a := range after.Status.Active {
				active = append(active, a.Name)
			}
			if diff := cmp.Diff(c.active, active); diff != "" {
				t.Errorf("active (-want +got):\n%s", diff)
			}
			if at := after.Status.LastScheduleTime; (at != nil && at.Time.Equal(now)) != c.scheduled {
				t.Errorf("lastScheduleTime is %v", at)
			}
		})
	}
}
