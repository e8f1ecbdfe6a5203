package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/vc-batch/vc/api/check"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/podtemplate"
)

// Around is what commands judge objects by before they send them: as the server's admission does, by the queues that
// there are. When ask is not set, or the queues cannot be read, nothing is said of them, and the server decides; so it
// does of the rules that an installation may choose.
func (f *Factory) Around(ctx context.Context, ask bool) *check.Around {
	around := &check.Around{Template: podtemplate.Validate, QueueRules: schedulingv1beta1.LooseQueueRules()}
	if !ask {
		return around
	}
	if queues := f.Queues(ctx); queues != nil {
		around.Queues = schedulingv1beta1.NewQueueLookup(queues...)
	}
	around.JobTemplate = func(namespace, name string) (*flowv1alpha1.JobTemplate, bool) {
		return f.JobTemplate(ctx, namespace, name)
	}
	return around
}

// JobTemplate reads a JobTemplate; nil when there is none. isKnown is false when it cannot be read.
func (f *Factory) JobTemplate(ctx context.Context, namespace, name string) (template *flowv1alpha1.JobTemplate, isKnown bool) {
	c, err := f.Client()
	if err != nil {
		return nil, false
	}
	template = &flowv1alpha1.JobTemplate{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, template); err != nil {
		return nil, IsMissing(err)
	}
	return template, true
}

// Queues reads all queues of the server; nil when they cannot be read.
func (f *Factory) Queues(ctx context.Context) []*schedulingv1beta1.Queue {
	c, err := f.Client()
	if err != nil {
		return nil
	}
	queues := []*schedulingv1beta1.Queue{}
	page := &schedulingv1beta1.QueueList{}
	err = Pages(ctx, c, page, func() error {
		for i := range page.Items {
			queues = append(queues, page.Items[i].DeepCopy())
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return queues
}

// JudgeCreate says why an object that is to be created would be refused; nil when nothing speaks against it. With alone the
// server is not asked, and what is allowed and most likely not meant is told here.
func (f *Factory) JudgeCreate(around *check.Around, object client.Object, alone bool) error {
	kind, err := apiutil.GVKForObject(object, Scheme())
	if err != nil {
		return err
	}
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	verdict := check.Create(kind, text, around)
	if alone {
		f.warn(kind.Kind, object, verdict.Warnings)
	}
	return Refusals(verdict.Errors)
}

// warn tells what is allowed and most likely not meant, as the server would.
func (f *Factory) warn(kind string, object client.Object, warnings []string) {
	name := object.GetName()
	if name == "" {
		name = object.GetGenerateName() + "…"
	}
	for _, one := range warnings {
		f.Warnf("%s %q: %s", strings.ToLower(kind), name, one)
	}
}

// JudgeUpdate says why a change would be refused; old is the object as it was read. Alone is as in JudgeCreate.
func (f *Factory) JudgeUpdate(around *check.Around, old, object client.Object, alone bool) error {
	kind, err := apiutil.GVKForObject(object, Scheme())
	if err != nil {
		return err
	}
	before, err := json.Marshal(old)
	if err != nil {
		return err
	}
	after, err := json.Marshal(object)
	if err != nil {
		return err
	}
	verdict := check.Update(kind, before, after, around)
	if alone {
		f.warn(kind.Kind, object, verdict.Warnings)
	}
	return Refusals(verdict.Errors)
}

// JudgeDelete says why an object, of which the name is enough, may not be deleted.
func JudgeDelete(around *check.Around, object client.Object) error {
	kind, err := apiutil.GVKForObject(object, Scheme())
	if err != nil {
		return err
	}
	return Refusals(check.Delete(kind, object.GetName(), around).Errors)
}

// Refusals gives what is wrong in the server's words, an error for each field; what to do about it the caller knows.
func Refusals(errs field.ErrorList) error {
	problems := make([]error, len(errs))
	for i, one := range errs {
		problems[i] = Errorf("", "%s", one.Error())
	}
	return errors.Join(problems...)
}
