package clusterdata

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
)

// AnnotateJob changes the annotations of the job if its UID is still the same. A nil value removes an annotation.
func AnnotateJob(ctx context.Context, c *program.Call, job *batchv1alpha1.Job, annotations map[string]any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": job.UID, "annotations": annotations}})
	if err != nil {
		return err
	}
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	target := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	return cl.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
}
