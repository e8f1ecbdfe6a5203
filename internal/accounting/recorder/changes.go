package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/audit"
	"github.com/vc-batch/vc/internal/accounting/spool"
)

const (
	// changePeriod is the interval at which changes of accounts and QOS that are not recorded are searched for.
	changePeriod = time.Second
	// deletionPeriod is the interval at which deletions of accounts and QOS are searched for.
	deletionPeriod = 5 * time.Second
	// deletionPatience is the time after which the deletion of an object that still exists has failed. It is longer than
	// the API server takes for any request.
	deletionPatience = 5 * time.Minute
)

// ChangeRecorder records the changes of accounts and QOS that admission wrote into their annotations, and the deletions that
// it wrote into ConfigMaps.
type ChangeRecorder struct {
	// Accounts returns the accounts and QOS that are known from a watch.
	Accounts func() *accountv1alpha1.Tree
	// API reads and writes accounts, QOS and ConfigMaps.
	API client.Client
	// Namespace is the namespace of the ConfigMaps.
	Namespace string
	// Cluster is the name of the cluster in the records.
	Cluster string
	Spool   *spool.Spool
	Log     logr.Logger

	// versions holds the resource versions of the objects whose changes were appended to the spool.
	versions map[types.UID]string
	// nextLook is the time of the next search for deletions.
	nextLook time.Time
}

// Run records changes until ctx is done.
func (r *ChangeRecorder) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := r.RecordChanges(ctx, time.Now()); err != nil && ctx.Err() == nil {
			r.Log.Info("Changes of accounts or QOS are not recorded yet; trying again", "reason", err.Error())
		}
		waitFor(ctx, changePeriod, nil)
	}
	return nil
}

// RecordChanges appends the changes that are not recorded to the spool, and acknowledges them.
func (r *ChangeRecorder) RecordChanges(ctx context.Context, now time.Time) error {
	var errs []error
	tree := r.Accounts()
	var objects []audit.Object
	for _, name := range tree.Names() {
		objects = append(objects, tree.Account(name))
	}
	for _, name := range tree.QOSNames() {
		objects = append(objects, tree.QOS(name))
	}
	for _, object := range objects {
		if object.GetAnnotations()[audit.Unrecorded] == "" {
			continue
		}
		if err := r.recordObject(ctx, object); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", audit.NameOf(object), err))
		}
	}
	if !now.Before(r.nextLook) {
		r.nextLook = now.Add(deletionPeriod)
		errs = append(errs, r.recordDeletions(ctx, now))
	}
	return errors.Join(errs...)
}

// recordObject records the changes in the annotation of an account or a QOS. They may be acknowledged already, because the
// watch lags behind.
func (r *ChangeRecorder) recordObject(ctx context.Context, object audit.Object) error {
	version := object.GetResourceVersion()
	if r.versions[object.GetUID()] == version {
		return nil
	}
	changes, err := audit.Changes(object.GetAnnotations())
	if err != nil {
		return err
	}
	if err := r.appendChanges(changes); err != nil {
		return err
	}
	annotations, err := audit.Acknowledge(object.GetAnnotations(), changes)
	if err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": version, "annotations": annotations}})
	if err != nil {
		return err
	}
	patched, ok := object.DeepCopyObject().(audit.Object) // the watch owns the object
	if !ok {
		return fmt.Errorf("copy has the unexpected type %T", object)
	}
	err = r.API.Patch(ctx, patched, client.RawPatch(types.MergePatchType, patch))
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err): // a newer version or the deletion contains the changes, too
		return nil
	case err != nil:
		return err
	}
	if r.versions == nil {
		r.versions = map[types.UID]string{}
	}
	r.versions[object.GetUID()] = version
	return nil
}

// appendChanges appends changes of this cluster to the spool.
func (r *ChangeRecorder) appendChanges(changes []accounting.Change) error {
	changes = slices.Clone(changes)
	for i := range changes {
		changes[i].Cluster = r.Cluster
	}
	return r.Spool.Append(accounting.Batch{Changes: changes})
}

// recordDeletions records the deletions of accounts and QOS that are gone, and removes deletions that failed.
func (r *ChangeRecorder) recordDeletions(ctx context.Context, now time.Time) error {
	list := &corev1.ConfigMapList{}
	if err := r.API.List(ctx, list, client.InNamespace(r.Namespace), client.HasLabels{audit.DeletionLabel}); err != nil {
		return fmt.Errorf("deletions of accounts and QOS: %w", err)
	}
	deletions, errs := parseDeletions(list.Items)
	for _, d := range deletions {
		if err := r.recordDeletion(ctx, d, now); err != nil {
			errs = append(errs, fmt.Errorf("ConfigMap %s: %w", d.stored.Name, err))
		}
	}
	return errors.Join(errs...)
}

// storedDeletion is a deletion and the ConfigMap that holds it.
type storedDeletion struct {
	*audit.Deletion
	stored *corev1.ConfigMap
}

// parseDeletions returns the deletions in ConfigMaps, the latest first. If several requests tried to delete an object, the
// last one is recorded, because the others have failed.
func parseDeletions(stored []corev1.ConfigMap) (deletions []storedDeletion, errs []error) {
	for i := range stored {
		deletion, err := audit.ParseDeletion(stored[i].Data)
		if err != nil {
			errs = append(errs, fmt.Errorf("ConfigMap %s: %w", stored[i].Name, err))
			continue
		}
		deletions = append(deletions, storedDeletion{deletion, &stored[i]})
	}
	slices.SortStableFunc(deletions, func(a, b storedDeletion) int { return b.Time().Compare(a.Time()) })
	return deletions, errs
}

// recordDeletion records a deletion if the object is gone.
func (r *ChangeRecorder) recordDeletion(ctx context.Context, d storedDeletion, now time.Time) error {
	object := d.Object()
	if err := client.IgnoreNotFound(r.API.Get(ctx, client.ObjectKeyFromObject(object), object)); err != nil {
		return err
	}
	exists := object.GetUID() == d.UID && object.GetDeletionTimestamp() == nil
	switch {
	case exists && now.Sub(d.Time()) < deletionPatience:
		return nil
	case !exists:
		if err := r.appendChanges(d.Changes); err != nil {
			return err
		}
	}
	return client.IgnoreNotFound(r.API.Delete(ctx, d.stored, client.Preconditions{UID: &d.stored.UID}))
}
