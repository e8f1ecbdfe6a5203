package wait

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/jobstatus"
)

const (
	// standsFor is how long a reason must persist before it is printed. The delay avoids messages about jobs that start
	// immediately.
	standsFor = time.Second
	// announceAgainAfter is the time during which a reason with the same code is not printed again, even if its numbers
	// change.
	announceAgainAfter = time.Minute
	// mostAnnounced is the maximum number of jobs whose reasons are printed. For more jobs, a list is clearer.
	mostAnnounced = 10
)

// Announcer reports to a user who is waiting for jobs why the jobs are pending. It prints each reason to standard error when
// the reason is first known and whenever it changes. Close stops the announcer.
type Announcer struct {
	f      *cli.Factory
	after  func(time.Duration, func()) (stop func() bool)
	cancel context.CancelFunc
	work   sync.WaitGroup

	// adopts reports whether to announce a job that appears later. If it is nil, only the jobs that were given at the
	// start are announced.
	adopts func(*batchv1alpha1.Job) bool

	mu   sync.Mutex // guards the fields below
	jobs map[types.UID]*announced
	// adopted is the number of jobs that were adopted.
	adopted int
	over    bool
}

// announced is a job with the reason that was last printed for it.
type announced struct {
	job   *batchv1alpha1.Job // nil while only its PodGroup is known
	group *schedulingv1beta1.PodGroup
	// code and text are the reason that was last printed; at is the time when it was printed.
	code, text string
	at         time.Time
	stop       func() bool
}

// StartAnnouncer starts printing why the jobs are waiting. The caller must pass each new state of a job to RecordJob.
func StartAnnouncer(ctx context.Context, f *cli.Factory, c client.WithWatch, jobs ...*batchv1alpha1.Job) *Announcer {
	ctx, cancel := context.WithCancel(ctx)
	a := newAnnouncer(f, cancel)
	if len(jobs) > mostAnnounced {
		return a
	}
	namespaces := map[string]bool{}
	for _, job := range jobs {
		namespaces[job.Namespace] = true
		a.jobs[job.UID] = &announced{job: job}
	}
	for namespace := range namespaces {
		a.work.Go(func() { a.watchGroups(ctx, c, namespace) })
	}
	return a
}

func newAnnouncer(f *cli.Factory, cancel context.CancelFunc) *Announcer {
	return &Announcer{f: f, cancel: cancel, jobs: map[types.UID]*announced{},
		after: func(d time.Duration, do func()) func() bool { return time.AfterFunc(d, do).Stop }}
}

// AnnounceOwned prints on the error stream why the owned jobs in a namespace are waiting, as `job wait` does, until
// stop is called. This includes owned jobs that are created later.
func AnnounceOwned(ctx context.Context, f *cli.Factory, c client.WithWatch, namespace string, owned func(*batchv1alpha1.Job) bool) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	a := newAnnouncer(f, cancel)
	a.adopts = owned
	a.work.Go(func() { a.watchGroups(ctx, c, namespace) })
	a.work.Go(func() {
		_ = cli.WatchChanges(ctx, c, NewJobList, "", nil, func(kind watch.EventType, job *batchv1alpha1.Job) bool {
			if kind != watch.Deleted {
				a.RecordJob(job)
			}
			return true
		}, client.InNamespace(namespace))
	})
	return a.Close
}

// watchGroups watches the PodGroups in a namespace. If the user has no access to PodGroups, only reasons in the status
// of the jobs themselves are printed.
func (a *Announcer) watchGroups(ctx context.Context, c client.WithWatch, namespace string) {
	groups := func() client.ObjectList { return &schedulingv1beta1.PodGroupList{} }
	_ = cli.WatchChanges(ctx, c, groups, "", nil, func(kind watch.EventType, group *schedulingv1beta1.PodGroup) bool {
		for _, owner := range group.OwnerReferences {
			a.recordGroup(owner.UID, kind, group)
		}
		return true
	}, client.InNamespace(namespace))
}

func (a *Announcer) recordGroup(job types.UID, kind watch.EventType, group *schedulingv1beta1.PodGroup) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.jobs[job]
	if one == nil && a.adopts != nil { // the job may appear later
		one = &announced{}
		a.jobs[job] = one
	}
	if one == nil {
		return
	}
	one.group = group
	if kind == watch.Deleted {
		one.group = nil
	}
	a.scheduleReason(one)
	if kind == watch.Deleted && a.adopts != nil && one.job == nil {
		delete(a.jobs, job)
	}
}

// RecordJob records the state of a job.
func (a *Announcer) RecordJob(job *batchv1alpha1.Job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.jobs[job.UID]
	if isKnown := one != nil && one.job != nil; !isKnown {
		if one = a.adoptJob(job); one == nil {
			return
		}
	}
	one.job = job
	a.scheduleReason(one)
	if a.adopts != nil && jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job)) { // another job can then take its place
		delete(a.jobs, job.UID)
		a.adopted--
	}
}

// adoptJob starts announcing a job that has appeared. It returns nil if the job is not to be announced. The caller must
// hold the lock.
func (a *Announcer) adoptJob(job *batchv1alpha1.Job) *announced {
	isFull := a.adopted == mostAnnounced
	if a.adopts == nil || isFull {
		return nil
	}
	if jobstatus.IsFinishedPhase(jobstatus.PhaseOrPending(job)) || !a.adopts(job) {
		return nil
	}
	a.adopted++
	if a.jobs[job.UID] == nil { // otherwise, its PodGroup was seen first
		a.jobs[job.UID] = &announced{}
	}
	return a.jobs[job.UID]
}

// scheduleReason prints the reason why a job waits once the reason has stayed the same for standsFor. The caller must
// hold the lock.
func (a *Announcer) scheduleReason(one *announced) {
	if one.stop != nil {
		one.stop()
		one.stop = nil
	}
	if code, text := reasonToWait(one); text != "" && !one.isAlreadyPrinted(code, text, a.f.Now()) {
		one.stop = a.after(standsFor, func() { a.printReason(one, text) })
	}
}

// isAlreadyPrinted reports whether the reason need not be printed, because it was already printed, or because a reason
// with the same code was printed recently.
func (o *announced) isAlreadyPrinted(code, text string, now time.Time) bool {
	return text == o.text || (code == o.code && now.Sub(o.at) < announceAgainAfter)
}

// printReason prints a reason if it still applies.
func (a *Announcer) printReason(one *announced, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	code, now := reasonToWait(one)
	if a.over || now != text {
		return
	}
	one.code, one.text, one.at = code, text, a.f.Now()
	a.f.Notef("job %q is waiting: %s", one.job.Name, text)
}

// reasonToWait returns the reason why a pending job is waiting. It returns empty strings for any other job.
func reasonToWait(one *announced) (code, text string) {
	if one.job == nil || jobstatus.PhaseOrPending(one.job) != batchv1alpha1.Pending {
		return "", ""
	}
	if one.group == nil && one.job.Status.State.Reason == "" {
		return "", ""
	}
	w := jobstatus.ExplainJob(one.job, one.group)
	return w.Code, w.CodeAndMessage()
}

// Close ends the announcer, which prints nothing afterwards.
func (a *Announcer) Close() {
	a.mu.Lock()
	a.over = true
	for _, one := range a.jobs {
		if one.stop != nil {
			one.stop()
		}
	}
	a.mu.Unlock()
	a.cancel()
	a.work.Wait()
}
