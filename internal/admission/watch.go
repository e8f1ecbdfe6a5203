package admission

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
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
