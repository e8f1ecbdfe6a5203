// Package lookup reads the jobs that the arguments of a command name or select, and suggests a similar name if a job or a
// task does not exist.
//
//	In:   names, numbers, @latest or a selector; the Jobs in the namespace
//	Out:  the Jobs, and an error for each name without a job
package lookup

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/usererror"
)

// Latest is the placeholder for the newest job in the namespace.
const Latest = "@latest"

// NewestName returns the name of the newest job in a namespace. Among jobs of equal age, it returns the last name.
func NewestName(ctx context.Context, c client.Client, namespace string) (string, error) {
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
		return "", usererror.Errorf("vcctl job list -A shows the jobs in all namespaces", "%s: namespace %q has no jobs", Latest, namespace)
	}
	return found.Name, err
}

// readByName reads one job by its name or number. If the job does not exist, the error suggests a similar name.
func readByName(ctx context.Context, f *cli.Factory, c client.Client, namespace, name string) (*batchv1alpha1.Job, error) {
	if name == Latest {
		var err error
		if name, err = NewestName(ctx, c, namespace); err != nil {
			return nil, err
		}
	}
	if strings.Contains(name, "/") {
		return nil, notFoundError(ctx, f, namespace, name, nil)
	}
	job := &batchv1alpha1.Job{}
	err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, job)
	if apierrors.IsNotFound(err) {
		if numbered := findByNumber(ctx, c, namespace, name); numbered != nil {
			return numbered, nil
		}
	}
	if cli.IsMissing(err) {
		return nil, notFoundError(ctx, f, namespace, name, err)
	}
	return job, err
}

func notFoundError(ctx context.Context, f *cli.Factory, namespace, name string, cause error) error {
	names, err := f.ListNames(ctx, batchv1alpha1.GroupVersion.WithKind("Job"), true)
	if err != nil {
		names = nil
	}
	missing := cli.NotFoundError("job", name, namespace, names)
	missing.Err = cause
	if missing.Hint == "" {
		missing.Hint = f.CommandText("job list") + " shows the jobs in this namespace; -A shows those in all namespaces"
	}
	return missing
}

// GroupsByOwner lists the PodGroups in a namespace, or in all namespaces if it is "". For each PodGroup, it stores the
// result of keep under the UID of the PodGroup's owner.
func GroupsByOwner(ctx context.Context, c client.Client, namespace string, keep func(*schedulingv1beta1.PodGroup) *schedulingv1beta1.PodGroup) (map[types.UID]*schedulingv1beta1.PodGroup, error) {
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

// SingleName returns the job name from the arguments of a command that takes exactly one job.
func SingleName(f *cli.Factory, cmd *cobra.Command, args []string) (string, error) {
	switch len(args) {
	case 0:
		return "", cli.UsageError(f, cmd, "specify the name of a job")
	case 1:
		return cli.BareName(args[0], "jobs"), nil
	}
	return "", cli.UsageError(f, cmd, "expected one job, but got %d", len(args))
}

// ReadSingle connects to the cluster and reads the named job.
func ReadSingle(ctx context.Context, f *cli.Factory, name string) (client.WithWatch, *batchv1alpha1.Job, error) {
	c, err := f.Client()
	if err != nil {
		return nil, nil, err
	}
	namespace, err := f.Namespace()
	if err != nil {
		return nil, nil, err
	}
	job, err := readByName(ctx, f, c, namespace, name)
	return c, job, err
}

// findByNumber returns the job with the specified number in a namespace. It returns nil if name is not a number or no
// job has this number.
func findByNumber(ctx context.Context, c client.Client, namespace, name string) *batchv1alpha1.Job {
	if _, ok := batchv1alpha1.ParseJobID(name); !ok {
		return nil
	}
	jobs := &batchv1alpha1.JobList{}
	err := c.List(ctx, jobs, client.InNamespace(namespace), client.MatchingLabels{keys.JobID: name})
	if err != nil || len(jobs.Items) != 1 {
		return nil
	}
	return &jobs.Items[0]
}

// ReadSelected reads the selected jobs. It returns an error for each job that does not exist.
func ReadSelected(ctx context.Context, f *cli.Factory, c client.Client, sel *cli.Selection) ([]*batchv1alpha1.Job, error) {
	namespace, err := f.Namespace()
	if err != nil {
		return nil, err
	}
	return cli.ReadSelected(ctx, c, sel, namespace, &batchv1alpha1.JobList{}, func(name string) (*batchv1alpha1.Job, error) {
		return readByName(ctx, f, c, namespace, name)
	})
}

// ReadRelated reads the PodGroup and the pods of a job. The PodGroup is nil if it does not exist. If the user lacks
// access to PodGroups or pods, that result is empty.
func ReadRelated(ctx context.Context, c client.Client, job *batchv1alpha1.Job) (*schedulingv1beta1.PodGroup, []*corev1.Pod, error) {
	group, err := clusterops.PodGroupOfJob(ctx, c, job)
	if cli.IgnoreForbidden(err) != nil {
		return nil, nil, err
	}
	pods, err := clusterops.PodsOfJob(ctx, c, job)
	return group, pods, cli.IgnoreForbidden(err)
}

// Key returns the namespace and the name of a job, for example nlp/train.
func Key(job *batchv1alpha1.Job) string { return job.Namespace + "/" + job.Name }
