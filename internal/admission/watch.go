package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/vc-batch/vc/internal/accountwatch"
)

const (
	// repairPause is the minimum time between two corrections of the webhook configurations, so that two installations
	// that disagree do not overwrite each other continuously.
	repairPause = 2 * time.Second
	// repairRetry is the delay before a failed correction is retried.
	repairRetry = 10 * time.Second
	// installRetry is the delay before the first installation, or the first load of the certificate, is retried while
	// the API server is unreachable. It is short, because the process is not ready until then.
	installRetry = time.Second
)

// sleepContext waits for d, or until ctx is done.
func sleepContext(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// watchConfigurations calls changed whenever one of the project's webhook configurations is created, updated or
// deleted, until ctx is done. It also calls changed after the first list, because a watch does not report configurations
// that were deleted before it started.
func watchConfigurations(ctx context.Context, client kubernetes.Interface, changed func()) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	ours := func(object any) {
		if deleted, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = deleted.Obj
		}
		if accessor, err := meta.Accessor(object); err == nil && strings.HasPrefix(accessor.GetName(), ConfigurationPrefix) {
			changed()
		}
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    ours,
		UpdateFunc: func(_, object any) { ours(object) },
		DeleteFunc: ours,
	}
	hooks := factory.Admissionregistration().V1()
	for _, informer := range []cache.SharedIndexInformer{
		hooks.MutatingWebhookConfigurations().Informer(), hooks.ValidatingWebhookConfigurations().Informer(),
	} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("admission: watch webhook configurations: %w", err)
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	changed()
	<-ctx.Done()
	factory.Shutdown()
	return nil
}

// watches holds the watches of the objects with which requests are checked.
type watches struct {
	queues    *queueWatch
	accounts  *accountwatch.Watch
	jobs      []cache.SharedIndexInformer // metadata of the jobs that have an account or a QOS and have not ended
	submitted *SubmittedJobs
}

func newWatches(config *rest.Config, now func() time.Time) (*watches, error) {
	queues, err := newQueueWatch(config)
	if err != nil {
		return nil, err
	}
	accounts, err := accountwatch.New(config)
	if err != nil {
		return nil, err
	}
	w := &watches{queues: queues, accounts: accounts, submitted: NewSubmittedJobs(now)}
	var isSynced []cache.InformerSynced
	for _, selector := range []string{jobsWithAccount, jobsWithQOSOnly} {
		jobs, err := newJobInformer(config, selector)
		if err != nil {
			return nil, err
		}
		registration, err := jobs.AddEventHandler(w.submitted)
		if err != nil {
			return nil, fmt.Errorf("admission: jobs: %w", err)
		}
		w.jobs, isSynced = append(w.jobs, jobs), append(isSynced, registration.HasSynced)
	}
	w.submitted.isSynced = func() bool {
		return !slices.ContainsFunc(isSynced, func(synced cache.InformerSynced) bool { return !synced() })
	}
	return w, nil
}

// run watches the objects until ctx is done.
func (w *watches) run(ctx context.Context) error {
	var group errgroup.Group
	runs := []func(context.Context){w.queues.informer.RunWithContext, w.accounts.Run}
	for _, jobs := range w.jobs {
		runs = append(runs, jobs.RunWithContext)
	}
	for _, run := range runs {
		group.Go(func() error {
			run(ctx)
			return nil
		})
	}
	return group.Wait()
}

// waitForSync waits until the caches hold all queues, accounts and QOS. It returns false if ctx is done before then. It does
// not wait for the jobs, because only accounts and QOS with a limit for their number need them.
func (w *watches) waitForSync(ctx context.Context) bool {
	return cache.WaitForCacheSync(ctx.Done(), w.queues.informer.HasSynced, w.accounts.IsReady)
}
