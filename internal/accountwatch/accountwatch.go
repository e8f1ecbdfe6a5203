// Package accountwatch watches the accounts and the QOS of a cluster.
//
//	In:   the Account and QOS objects of the API server
//	Out:  their tree
//
// # Concurrency
//
// The methods of a Watch may be called by several goroutines.
package accountwatch

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/apiclient"
)

// Watch watches the accounts and the QOS. It caches their tree until one of them changes.
type Watch struct {
	client rest.Interface
	// accounts and qos watch the two kinds.
	accounts, qos *kindWatch

	mu      sync.Mutex
	tree    *accountv1alpha1.Tree // nil if it must be built again
	changes int                   // number of changes; a tree that was built before a change is not cached
}

// kindWatch watches the objects of one kind.
type kindWatch struct {
	informer cache.SharedIndexInformer
	// isMissing is true if the API server does not have the kind.
	isMissing atomic.Bool
}

// New returns a watch that does not run yet.
func New(config *rest.Config) (*Watch, error) {
	client, err := apiclient.NewGroupClient(config, accountv1alpha1.GroupVersion, accountv1alpha1.AddToScheme)
	if err != nil {
		return nil, fmt.Errorf("watch accounts: %w", err)
	}
	w := &Watch{client: client}
	if w.accounts, err = w.newKindWatch("accounts", &accountv1alpha1.Account{}); err != nil {
		return nil, fmt.Errorf("watch accounts: %w", err)
	}
	if w.qos, err = w.newKindWatch("qoses", &accountv1alpha1.QOS{}); err != nil {
		return nil, fmt.Errorf("watch qoses: %w", err)
	}
	return w, nil
}

// newKindWatch returns a watch of the objects of one kind, which drops the cached tree after each change.
func (w *Watch) newKindWatch(resource string, sample runtime.Object) (*kindWatch, error) {
	list := cache.NewListWatchFromClient(w.client, resource, metav1.NamespaceAll, fields.Everything())
	k := &kindWatch{informer: cache.NewSharedIndexInformer(list, sample, 0, nil)}
	if err := k.informer.SetTransform(removeManagedFields); err != nil {
		return nil, err
	}
	if err := k.informer.SetWatchErrorHandlerWithContext(k.handleError); err != nil {
		return nil, err
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.forgetTree() },
		UpdateFunc: func(any, any) { w.forgetTree() },
		DeleteFunc: func(any) { w.forgetTree() },
	}
	_, err := k.informer.AddEventHandler(handler)
	return k, err
}

// removeManagedFields removes metadata that is not needed from an object.
func removeManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// Run watches the accounts and the QOS until ctx is done.
func (w *Watch) Run(ctx context.Context) {
	var group sync.WaitGroup
	for _, k := range []*kindWatch{w.accounts, w.qos} {
		group.Go(func() { k.informer.RunWithContext(ctx) })
	}
	group.Wait()
}

// IsReady reports whether the accounts and the QOS are known. A cluster without a kind has no such objects: its CRD may be
// installed later than the programs.
func (w *Watch) IsReady() bool { return w.accounts.isReady() && w.qos.isReady() }

func (k *kindWatch) isReady() bool { return k.informer.HasSynced() || k.isMissing.Load() }

// handleError records whether the kind is missing, and logs the error.
func (k *kindWatch) handleError(ctx context.Context, reflector *cache.Reflector, err error) {
	k.isMissing.Store(apierrors.IsNotFound(err))
	cache.DefaultWatchErrorHandler(ctx, reflector, err)
}

// forgetTree drops the cached tree, so that Accounts builds it again.
func (w *Watch) forgetTree() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tree = nil
	w.changes++
}

// Accounts returns the accounts and the QOS that are known from the watch.
func (w *Watch) Accounts() *accountv1alpha1.Tree {
	w.mu.Lock()
	tree, changes := w.tree, w.changes
	w.mu.Unlock()
	if tree != nil {
		return tree
	}
	tree = accountv1alpha1.NewTree(objectsOf[*accountv1alpha1.Account](w.accounts), objectsOf[*accountv1alpha1.QOS](w.qos)...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if changes == w.changes {
		w.tree = tree
	}
	return tree
}

// objectsOf returns the objects that are known from a watch.
func objectsOf[T any](k *kindWatch) []T {
	stored := k.informer.GetStore().List()
	objects := make([]T, 0, len(stored))
	for _, object := range stored {
		if typed, ok := object.(T); ok {
			objects = append(objects, typed)
		}
	}
	return objects
}

// ReadAccounts returns the accounts and the QOS from the API server. If it does not have the kind QOS, there are none.
func (w *Watch) ReadAccounts(ctx context.Context) (*accountv1alpha1.Tree, error) {
	list, services := &accountv1alpha1.AccountList{}, &accountv1alpha1.QOSList{}
	if err := w.client.Get().Resource("accounts").Do(ctx).Into(list); err != nil {
		return nil, fmt.Errorf("accounts: %w", err)
	}
	if err := w.client.Get().Resource("qoses").Do(ctx).Into(services); err != nil && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("qoses: %w", err)
	}
	return accountv1alpha1.NewTree(accountv1alpha1.PointersTo(list.Items), accountv1alpha1.PointersTo(services.Items)...), nil
}
