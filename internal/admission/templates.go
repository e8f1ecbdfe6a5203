package admission

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
)

// jobTemplates returns a function that looks up JobTemplates for one request. The first call reads all templates in the
// namespace. If this fails, isKnown is false, and the flow is checked without templates.
func (h *hooks) jobTemplates(ctx context.Context) func(namespace, name string) (template *flowv1alpha1.JobTemplate, isKnown bool) {
	var known map[string]*flowv1alpha1.JobTemplate
	isUnreadable := false
	return func(namespace, name string) (*flowv1alpha1.JobTemplate, bool) {
		if known != nil {
			return known[name], !isUnreadable
		}
		known = map[string]*flowv1alpha1.JobTemplate{}
		ctx, cancel := context.WithTimeout(ctx, liveReadTimeout)
		defer cancel()
		list := &flowv1alpha1.JobTemplateList{}
		if err := h.jobs.List(ctx, list, client.InNamespace(namespace)); err != nil {
			logf.FromContext(ctx).Error(err, "Could not read the JobTemplates; JobFlows are validated without them", "namespace", namespace)
			isUnreadable = true
			return nil, false
		}
		for i := range list.Items {
			known[list.Items[i].Name] = &list.Items[i]
		}
		return known[name], true
	}
}
