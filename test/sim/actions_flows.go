package sim

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
)

var (
	flowKind     = flowv1alpha1.GroupVersion.WithKind("JobFlow")
	templateKind = flowv1alpha1.GroupVersion.WithKind("JobTemplate")
)

func init() {
	registerAction("submit-flow", 3, func(s *drawing) *action {
		s.flows++
		name := fmt.Sprintf("flow-%d", s.flows)
		flow := &flowv1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: userNamespace, Name: name}}
		flow.Spec.JobRetainPolicy = flowv1alpha1.Retain
		var templates []*flowv1alpha1.JobTemplate
		var texts []string
		for i := range 2 + s.IntN(3) {
			job := drawJob(s.Rand, fmt.Sprintf("%s-step-%d", name, i), s.queueNames())
			job.Spec.TTLSecondsAfterFinished = nil
			template := &flowv1alpha1.JobTemplate{ObjectMeta: job.ObjectMeta, Spec: job.Spec}
			step := flowv1alpha1.Flow{Name: template.Name}
			if i > 0 && s.IntN(3) > 0 {
				step.DependsOn = &flowv1alpha1.DependsOn{Targets: []string{templates[s.IntN(len(templates))].Name}}
			}
			templates = append(templates, template)
			flow.Spec.Flows = append(flow.Spec.Flows, step)
			texts = append(texts, describeJob(job))
		}
		return s.action(func(w *World) {
			for _, t := range templates {
				_, _ = w.users.do(&apiserver.Request{Verb: apiserver.Create, Kind: templateKind, Namespace: userNamespace, Name: t.Name, Object: t})
			}
			_, _ = w.users.do(&apiserver.Request{Verb: apiserver.Create, Kind: flowKind, Namespace: userNamespace, Name: name, Object: flow})
		}, "user submits %s with the jobs %s", name, strings.Join(texts, " | "))
	})
}
