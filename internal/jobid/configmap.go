package jobid

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// markKey is the key of the mark in the ConfigMap. The value is a decimal number.
const markKey = "highest"

// ConfigMap implements Store with the ConfigMap keys.JobIDsName in a namespace.
type ConfigMap struct {
	// API is a client that reads without a cache.
	API       client.Client
	Namespace string
}

// Load reads the mark.
func (c ConfigMap) Load(ctx context.Context) (Mark, error) {
	var stored corev1.ConfigMap
	err := c.API.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: keys.JobIDsName}, &stored)
	if apierrors.IsNotFound(err) {
		return Mark{Missing: true}, nil
	}
	if err != nil {
		return Mark{}, c.wrapStoreError(err)
	}
	value, err := strconv.ParseInt(stored.Data[markKey], 10, 64)
	return Mark{Value: value, Version: stored.ResourceVersion, Missing: err != nil || value < 0}, nil //nolint:nilerr // an invalid mark is the same as a missing one
}

// Swap stores a new mark in the ConfigMap. It fails if the ConfigMap has changed since the old mark was read.
func (c ConfigMap) Swap(ctx context.Context, old Mark, to int64) (Mark, error) {
	stored := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: keys.JobIDsName, ResourceVersion: old.Version},
		Data:       map[string]string{markKey: strconv.FormatInt(to, 10)},
	}
	var err error
	if old.Version == "" {
		err = c.API.Create(ctx, stored)
	} else {
		err = c.API.Update(ctx, stored)
	}
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err), old.Version != "" && apierrors.IsNotFound(err):
		return Mark{}, ErrConflict
	case err != nil:
		return Mark{}, c.wrapStoreError(err)
	}
	return Mark{Value: to, Version: stored.ResourceVersion}, nil
}

// page is the maximum number of jobs per list request.
const page = 500

// Used returns the highest number among all jobs in the cluster.
func (c ConfigMap) Used(ctx context.Context) (int64, error) {
	var highest int64
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(batchv1alpha1.GroupVersion.WithKind("JobList"))
	for more := ""; ; {
		err := c.API.List(ctx, list, client.HasLabels{keys.JobID}, client.Limit(page), client.Continue(more))
		if err != nil {
			return 0, fmt.Errorf("ids of jobs: %w", err)
		}
		for i := range list.Items {
			job := &batchv1alpha1.Job{ObjectMeta: list.Items[i].ObjectMeta}
			if first, ok := batchv1alpha1.JobID(job); ok {
				highest = max(highest, first+int64(batchv1alpha1.IDsOf(job))-1)
			}
		}
		if more = list.Continue; more == "" {
			return highest, nil
		}
	}
}

func (c ConfigMap) wrapStoreError(err error) error {
	text := fmt.Errorf("configmap %s/%s: %w", c.Namespace, keys.JobIDsName, err)
	if apierrors.IsForbidden(err) {
		return errors.Join(text, errors.New("grant the component permission to get, create and update the ConfigMap, as in deploy/install.yaml"))
	}
	return text
}
