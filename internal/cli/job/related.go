package job

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// latest is the placeholder for the newest job of the namespace.
const latest = "@latest"

// newestJobName returns the name of the newest job in a namespace. Among jobs of equal age, it returns the last name.
func newestJobName(ctx context.Context, c client.Client, namespace string) (string, error) {
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(batchv1alpha1.GroupVersion.WithKind("JobList"))
	var found metav1.PartialObjectMetadata
	err := cli.ListPages(ctx, c, page, func() error {
		for i := range page.Items {
			if !page.Items[i].CreationTimestamp.Before(&found.CreationTimestamp) {
				found = page.Items[i]
			}
		}
		return nil
	}, client.InNamespace(namespace))
	if err == nil && found.Name == "" {
		return "", usererror.Errorf("vcctl job list -A shows the jobs of all namespaces", "%s: there are no jobs in namespace %q", latest, namespace)
	}
	return found.Name, err
}

// readJobByName reads one job by its name or number. If it does not exist, the error suggests a similar name.
func readJobByName(ctx context.Context, f *cli.Factory, c client.Client, namespace, name string) (*batchv1alpha1.Job, error) {
	if name == latest {
		var err error
		if name, err = newestJobName(ctx, c, namespace); err != nil {
			return nil, err
		}
	}
	if strings.Contains(name, "/") {
		return nil, jobNotFoundError(ctx, f, namespace, name, nil)
	}
	job := &batchv1alpha1.Job{}
	err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, job)
	if apierrors.IsNotFound(err) {
		if numbered := findByNumber(ctx, c, namespace, name); numbered != nil {
			return numbered, nil
		}
	}
	if cli.IsMissing(err) {
		return nil, jobNotFoundError(ctx, f, namespace, name, err)
	}
	return job, err
}

func jobNotFoundError(ctx context.Context, f *cli.Factory, namespace, name string, cause error) error {
	names, err := f.ListNames(ctx, batchv1alpha1.GroupVersion.WithKind("Job"), true)
	if err != nil {
		names = nil
	}
	missing := cli.NotFoundError("job", name, namespace, names)
	missing.Err = cause
	if missing.Hint == "" {
		missing.Hint = f.CommandText("job list") + " shows the jobs of this namespace; -A shows all"
	}
	return missing
}

// groupsByOwner lists the PodGroups of a namespace (of all namespaces if it is "") by the UID of their owner. It
// stores the result of keep for each PodGroup.
func groupsByOwner(ctx context.Context, c client.Client, namespace string, keep func(*schedulingv1beta1.PodGroup) *schedulingv1beta1.PodGroup) (map[types.UID]*schedulingv1beta1.PodGroup, error) {
	groups := map[types.UID]*schedulingv1beta1.PodGroup{}
	page := &schedulingv1beta1.PodGroupList{}
	err := cli.ListPages(ctx, c, page, func() error {
		for i := range page.Items {
			group := page.Items[i]
			kept := keep(&group)
			for _, owner := range group.OwnerReferences {
				groups[owner.UID] = kept
			}
		}
		return nil
	}, client.InNamespace(namespace))
	return groups, err
}
