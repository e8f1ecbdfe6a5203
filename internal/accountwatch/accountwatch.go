// Package accountwatch watches the accounts of a cluster.
//
//	In:   the Account objects of the API server
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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/apiclient"
)

// Watch watches the accounts. It caches their tree until one of them changes.
type Watch struct {
	client   rest.Interface
	informer cache.SharedIndexInformer
	// isKindMissing is true if the API server does not have the kind Account.
	isKindMissing atomic.Bool

	mu      sync.Mutex
	tree    *accountv1alpha1.Tree // nil if it must be built again
	changes int                   // number of changes; a tree that was built before a change is not cached
}

// New returns a watch that does not run yet.
func New(config *rest.Config) (*Watch, error) {
	client, err := apiclient.NewGroupClient(config, accountv1alpha1.GroupVersion, accountv1alpha1.AddToScheme)
	if err != nil {
		return nil, fmt.Errorf("watch accounts: %w", err)
	}
	list := cache.NewListWatchFromClient(client, "accounts", metav1.NamespaceAll, fields.Everything())
	w := &Watch{client: client, informer: cache.NewSharedIndexInformer(list, &accountv1alpha1.Account{}, 0, nil)}
	if err := w.informer.SetTransform(removeManagedFields); err != nil {
		return nil, fmt.Errorf("watch accounts: %w", err)
	}
	if err := w.informer.SetWatchErrorHandlerWithContext(w.handleError); err != nil {
		return nil, fmt.Errorf("watch accounts: %w", err)
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.forgetTree() },
		UpdateFunc: func(any, any) { w.forgetTree() },
		DeleteFunc: func(any) { w.forgetTree() },
	}
	if _, err := w.informer.AddEventHandler(handler); err != nil {
		return nil, fmt.Errorf("watch accounts: %w", err)
	}
	return w, nil
}

// removeManagedFields removes metadata that is not needed from an account.
func removeManagedFields(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	return object, nil
}

// Run watches the accounts until ctx is done.
func (w *Watch) Run(ctx context.Context) { w.informer.RunWithContext(ctx) }

// IsReady reports whether the accounts are known. A cluster without the kind has no accounts: its CRD may be installed
// later than the programs.
func (w *Watch) IsReady() bool { return w.informer.HasSynced() || w.isKindMissing.Load() }

// handleError records whether the kind is missing, and logs the error.
func (w *Watch) handleError(ctx context.Context, reflector *cache.Reflector, err error) {
	w.isKindMissing.Store(apierrors.IsNotFound(err))
	cache.DefaultWatchErrorHandler(ctx, reflector, err)
}

// forgetTree drops the cached tree, so that Accounts builds it again.
func (w *Watch) forgetTree() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tree = nil
	w.changes++
}

// Accounts returns the accounts that are known from the watch.
func (w *Watch) Accounts() *accountv1alpha1.Tree {
	w.mu.Lock()
	tree, changes := w.tree, w.changes
	w.mu.Unlock()
	if tree != nil {
		return tree
	}
	objects := w.informer.GetStore().List()
	accounts := make([]*accountv1alpha1.Account, 0, len(objects))
	for _, object := range objects {
		if account, ok := object.(*accountv1alpha1.Account); ok {
			accounts = append(accounts, account)
		}
	}
	tree = accountv1alpha1.NewTree(accounts)
	w.mu.Lock()
	defer w.mu.Unlock()
	if changes == w.changes {
		w.tree = tree
	}
	return tree
}

// ReadAccounts returns the accounts from the API server.
func (w *Watch) ReadAccounts(ctx context.Context) (*accountv1alpha1.Tree, error) {
	list := &accountv1alpha1.AccountList{}
	if err := w.client.Get().Resource("accounts").Do(ctx).Into(list); err != nil {
		return nil, fmt.Errorf("accounts: %w", err)
	}
	accounts := make([]*accountv1alpha1.Account, len(list.Items))
	for i := range list.Items {
		accounts[i] = &list.Items[i]
	}
	return accountv1alpha1.NewTree(accounts), nil
}
