package admission

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
)

// jobTemplates looks up JobTemplates for one request: all of the namespace are read when the first is asked for. When they
// cannot be read there are none: a flow is then judged without them, as one is that comes before its templates.
func (h *hooks) jobTemplates(ctx context.Context) func(namespace, name string) *flowv1alpha1.JobTemplate {
	var known map[string]*flowv1alpha1.JobTemplate
	return func(namespace, name string) *flowv1alpha1.JobTemplate {
		if known != nil {
			return known[name]
		}
		known = map[string]*flowv1alpha1.JobTemplate{}
		ctx, cancel := context.WithTimeout(ctx, liveReadTimeout)
		defer cancel()
		list := &flowv1alpha1.JobTemplateList{}
		if err := h.jobs.List(ctx, list, client.InNamespace(namespace)); err != nil {
			logf.FromContext(ctx).Error(err, "JobTemplates cannot be read; a JobFlow is judged without them", "namespace", namespace)
			return nil
		}
		for i := range list.Items {
			known[list.Items[i].Name] = &list.Items[i]
		}
		return known[name]
	}
}
