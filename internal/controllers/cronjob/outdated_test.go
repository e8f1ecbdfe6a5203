package cronjob

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
)

// TestAnActiveJobThatTheCacheLacksCounts verifies that concurrencyPolicy is applied to a job that is listed in the status,
// although the cache of a new process does not show the job yet.
func TestAnActiveJobThatTheCacheLacksCounts(t *testing.T) {
	for policy, want := range map[batchv1alpha1.ConcurrencyPolicy][]string{
		batchv1alpha1.ReplaceConcurrent: {"c-29751843"},
		batchv1alpha1.ForbidConcurrent:  {"c-29751842"},
		batchv1alpha1.AllowConcurrent:   {"c-29751842", "c-29751843"},
	} {
		now := epoch
		server := apiserver.New(scheme, func() time.Time { return now })
		cron := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}}
		cron.Spec = batchv1alpha1.CronJobSpec{Schedule: "* * * * *", ConcurrencyPolicy: policy, JobTemplate: jobTemplate}
		server.Save(cron)
		now = time.Date(2026, 7, 27, 0, 3, 0, 0, time.UTC)
		cron = apiserver.All[*batchv1alpha1.CronJob](server)[0].DeepCopy()
		job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "c-29751842", Namespace: "default"}, Spec: jobTemplate.Spec}
		job.OwnerReferences = []metav1.OwnerReference{{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "CronJob", Name: "c", UID: cron.UID, Controller: new(true)}}
		server.Save(job)
		cron.Status.Active = []corev1.ObjectReference{referenceTo(apiserver.All[*batchv1alpha1.Job](server)[0])}
		cron.Status.LastScheduleTime = &metav1.Time{Time: now.Add(-time.Minute)}
		server.Save(cron)
		cache := apiserver.NewCache()
		cache.Replace(kindOfCronJobs, server.Objects(kindOfCronJobs))
		cache.Replace(kindOfJobs, nil)
		r := New(Options{Cache: cache, API: apiserver.NewConnection(server).Client(), Recorder: record.NewFakeRecorder(10), Now: func() time.Time { return now }})
		if _, err := r.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "c"}}); err != nil {
			t.Fatalf("%s: %v", policy, err)
		}
		var got []string
		for _, j := range apiserver.All[*batchv1alpha1.Job](server) {
			if j.DeletionTimestamp == nil {
				got = append(got, j.Name)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("with policy %s, the jobs are %v, want %v", policy, got, want)
		}
	}
}

// TestAConflictIsReturnedAsAnError verifies that conflicts are retried with growing delays, which only errors have.
func TestAConflictIsReturnedAsAnError(t *testing.T) {
	now := epoch
	server := apiserver.New(scheme, func() time.Time { return now })
	cron := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}}
	cron.Spec = batchv1alpha1.CronJobSpec{Schedule: "* * * * *", JobTemplate: jobTemplate}
	server.Save(cron)
	now = epoch.Add(2 * time.Minute)
	api := apiserver.NewConnection(server)
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "cronjobs"}, "c", errors.New("modified"))
	api.Rejected = map[string]error{"update status of CronJob default/c": conflict}
	r := New(Options{Cache: server.Cache(), API: api.Client(), Recorder: record.NewFakeRecorder(10), Now: func() time.Time { return now }})
	_, err := r.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "c"}})
	if !errors.Is(err, conflict) {
		t.Errorf("error %v, want the conflict; writes: %v", err, api.Writes)
	}
}

// TestAnActiveJobThatItsOwnerReferenceNoLongerNamesIsKept verifies that a job is not replaced after a user has removed its
// owner reference.
func TestAnActiveJobThatItsOwnerReferenceNoLongerNamesIsKept(t *testing.T) {
	now := epoch
	server := apiserver.New(scheme, func() time.Time { return now })
	cron := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}}
	cron.Spec = batchv1alpha1.CronJobSpec{Schedule: "* * * * *", ConcurrencyPolicy: batchv1alpha1.ReplaceConcurrent, JobTemplate: jobTemplate}
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "kept", Namespace: "default"}, Spec: jobTemplate.Spec}
	server.Save(job)
	cron.Status.Active = []corev1.ObjectReference{referenceTo(apiserver.All[*batchv1alpha1.Job](server)[0])}
	server.Save(cron)
	now = epoch.Add(2 * time.Minute)
	r := New(Options{Cache: server.Cache(), API: apiserver.NewConnection(server).Client(), Recorder: record.NewFakeRecorder(10), Now: func() time.Time { return now }})
	if _, err := r.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "c"}}); err != nil {
		t.Fatal(err)
	}
	if kept := apiserver.Find[*batchv1alpha1.Job](server, "default", "kept"); kept == nil || kept.DeletionTimestamp != nil || len(apiserver.All[*batchv1alpha1.Job](server)) != 2 {
		t.Errorf("jobs: %v, want the kept job and a new one", apiserver.All[*batchv1alpha1.Job](server))
	}
}
