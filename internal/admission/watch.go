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
	// repairPause is the least time between two corrections of webhook configurations: two installations that disagree must not write against each
	// other without a pause.
	repairPause = 2 * time.Second
	// repairRetry is how long a correction that failed waits.
	repairRetry = 10 * time.Second
)

// sleep waits for a while, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// watchConfigurations calls changed whenever one of our webhook configurations is created, changed or deleted, until ctx ends.
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
			return fmt.Errorf("admission: watch of webhook configurations: %w", err)
		}
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
	return nil
}
