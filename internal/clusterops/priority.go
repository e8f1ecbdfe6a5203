package clusterops

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/usererror"
)

// SetPriorityClass sets the priority class of jobs; "" removes it. said describes how many jobs were changed. A failure
// for one job does not stop the others; the error contains all failures.
func (c *Cluster) SetPriorityClass(ctx context.Context, class string, jobs []*batchv1alpha1.Job) (said string, err error) {
	if err := c.checkPriorityClass(ctx, class); err != nil {
		return "", err
	}
	done, _, err := changeJobs(jobs, func(job *batchv1alpha1.Job) (already string, err error) {
		target := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
		return "", c.Client.Patch(ctx, target, priorityPatch(class))
	})
	return describePriorities(class, done), err
}

// checkPriorityClass returns an error if a class does not exist, because the API server accepts any name. Users who may
// not read the class can still set it.
func (c *Cluster) checkPriorityClass(ctx context.Context, class string) error {
	if class == "" {
		return nil
	}
	_, err := c.Typed.SchedulingV1().PriorityClasses().Get(ctx, class, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return usererror.Errorf("kubectl get priorityclasses lists the classes", "priority class %q does not exist", class)
	case apierrors.IsForbidden(err):
		return nil
	}
	return err
}

// priorityPatch returns the patch that sets or removes the priority class of a job.
func priorityPatch(class string) client.Patch {
	value := []byte("null")
	if class != "" {
		value, _ = json.Marshal(class) //nolint:errchkjson // a string can always be marshalled
	}
	return client.RawPatch(mergePatch, fmt.Appendf(nil, `{"spec":{"priorityClassName":%s}}`, value))
}

func describePriorities(class string, jobs []*batchv1alpha1.Job) string {
	what := "now has priority class " + class
	if class == "" {
		what = "now has no priority class"
	}
	switch len(jobs) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("job %s/%s %s", jobs[0].Namespace, jobs[0].Name, what)
	}
	return fmt.Sprintf("each of %d jobs %s", len(jobs), what)
}
