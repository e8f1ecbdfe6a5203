package job

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
)

const (
	// standsFor is how long a reason has to stand before it is said: a job that starts at once waits for nothing.
	standsFor = time.Second
	// saysAgainAfter is how long the same kind of reason is not repeated although its numbers change.
	saysAgainAfter = time.Minute
	// mostAnnounced is the number of jobs whose reasons are said; of more a list shows them better.
	mostAnnounced = 10
)

// announcer says on the error stream why jobs wait, to a user who waits for them: when a reason is known, and when it changes.
// Close ends it.
type announcer struct {
	f      *cli.Factory
	after  func(time.Duration, func()) (stop func() bool)
	cancel context.CancelFunc
	work   sync.WaitGroup

	// adopts reports whether a job that appears is one of those to announce; nil: only those that were named are.
	adopts func(*batchv1alpha1.Job) bool

	mu   sync.Mutex // guards what follows
	jobs map[types.UID]*announced
	// adopted is the number of jobs that appeared.
	adopted int
	over    bool
}

// announced is one job, and what was said about it.
type announced struct {
	job   *batchv1alpha1.Job // nil: only its PodGroup has been seen yet
	group *schedulingv1beta1.PodGroup
	// code and text are what was said last, at that time.
	code, text string
	at         time.Time
	stop       func() bool
}

// announce starts to say why the jobs wait; the caller tells it by saw how they stand.
func announce(ctx context.Context, f *cli.Factory, c client.WithWatch, jobs ...*batchv1alpha1.Job) *announcer {
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

func newAnnouncer(f *cli.Factory, cancel context.CancelFunc) *announcer {
	return &announcer{f: f, cancel: cancel, jobs: map[types.UID]*announced{},
		after: func(d time.Duration, do func()) func() bool { return time.AfterFunc(d, do).Stop }}
}

// AnnounceOwned says on the error stream why jobs of a namespace wait, as `job wait` does, until close is called: of those jobs that are
// owned, also of those that are made later.
func AnnounceOwned(ctx context.Context, f *cli.Factory, c client.WithWatch, namespace string, owned func(*batchv1alpha1.Job) bool) (close func()) {
	ctx, cancel := context.WithCancel(ctx)
	a := newAnnouncer(f, cancel)
	a.adopts = owned
	a.work.Go(func() { a.watchGroups(ctx, c, namespace) })
	a.work.Go(func() {
		_ = cli.WatchOn(ctx, c, newJobs, "", nil, func(kind watch.EventType, job *batchv1alpha1.Job) bool {
			if kind != watch.Deleted {
				a.saw(job)
			}
			return true
		}, client.InNamespace(namespace))
	})
	return a.Close
}

// watchGroups follows the PodGroups of a namespace; a user who may not see them learns what the jobs themselves say.
func (a *announcer) watchGroups(ctx context.Context, c client.WithWatch, namespace string) {
	groups := func() client.ObjectList { return &schedulingv1beta1.PodGroupList{} }
	_ = cli.WatchOn(ctx, c, groups, "", nil, func(kind watch.EventType, group *schedulingv1beta1.PodGroup) bool {
		for _, owner := range group.OwnerReferences {
			a.sawGroup(owner.UID, kind, group)
		}
		return true
	}, client.InNamespace(namespace))
}

func (a *announcer) sawGroup(job types.UID, kind watch.EventType, group *schedulingv1beta1.PodGroup) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.jobs[job]
	if one == nil && a.adopts != nil { // its job may appear after it
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
	a.consider(one)
	if kind == watch.Deleted && a.adopts != nil && one.job == nil {
		delete(a.jobs, job)
	}
}

// saw takes in how a job stands.
func (a *announcer) saw(job *batchv1alpha1.Job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.jobs[job.UID]
	if isKnown := one != nil && one.job != nil; !isKnown {
		if one = a.adopt(job); one == nil {
			return
		}
	}
	one.job = job
	a.consider(one)
	if a.adopts != nil && finished(phaseOf(job)) { // room for another one
		delete(a.jobs, job.UID)
		a.adopted--
	}
}

// adopt starts to announce a job that appeared. It returns nil if the job is not announced. The caller holds the lock.
func (a *announcer) adopt(job *batchv1alpha1.Job) *announced {
	isFull := a.adopted == mostAnnounced
	if a.adopts == nil || isFull {
		return nil
	}
	if finished(phaseOf(job)) || !a.adopts(job) {
		return nil
	}
	a.adopted++
	if a.jobs[job.UID] == nil { // else its group was seen before it
		a.jobs[job.UID] = &announced{}
	}
	return a.jobs[job.UID]
}

// consider says the reason of a job after it has stood for a moment; the caller holds the lock.
func (a *announcer) consider(one *announced) {
	if one.stop != nil {
		one.stop()
		one.stop = nil
	}
	if code, text := reasonToWait(one); text != "" && !one.isSaid(code, text, a.f.Now()) {
		one.stop = a.after(standsFor, func() { a.say(one, text) })
	}
}

// isSaid reports whether the reason need not be said: it was, or one of its kind was a short time ago.
func (o *announced) isSaid(code, text string, now time.Time) bool {
	return text == o.text || code == o.code && now.Sub(o.at) < saysAgainAfter
}

// say says a reason if it still stands.
func (a *announcer) say(one *announced, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	code, now := reasonToWait(one)
	if a.over || now != text {
		return
	}
	one.code, one.text, one.at = code, text, a.f.Now()
	a.f.Notef("job %q waits: %s", one.job.Name, text)
}

// reasonToWait is why a job that is pending waits; nothing of one that runs or has ended.
func reasonToWait(one *announced) (code, text string) {
	if one.job == nil || phaseOf(one.job) != batchv1alpha1.Pending {
		return "", ""
	}
	if one.group == nil && one.job.Status.State.Reason == "" {
		return "", ""
	}
	w := explain(one.job, one.group)
	return w.Code, w.Short()
}

// Close ends the announcer; nothing is said afterwards.
func (a *announcer) Close() {
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
