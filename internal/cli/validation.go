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
	"github.com/vc-batch/vc/internal/usererror"
)

// ValidationContext returns the context in which commands validate objects before sending them, like the server's
// admission. The context includes the existing queues. If ask is false, or if the queues cannot be read, checks that
// involve queues are left to the server, as are the rules that an installation can configure.
func (f *Factory) ValidationContext(ctx context.Context, ask bool) *check.Around {
	around := &check.Around{Template: podtemplate.ValidateTemplate, QueueRules: schedulingv1beta1.LooseQueueRules()}
	if !ask {
		return around
	}
	if queues := f.ReadQueues(ctx); queues != nil {
		around.Queues = schedulingv1beta1.NewQueueLookup(queues...)
	}
	around.JobTemplate = func(namespace, name string) (*flowv1alpha1.JobTemplate, bool) {
		return f.ReadJobTemplate(ctx, namespace, name)
	}
	return around
}

// ReadJobTemplate reads a JobTemplate; it returns nil if the object does not exist. isKnown is false if the read
// failed.
func (f *Factory) ReadJobTemplate(ctx context.Context, namespace, name string) (template *flowv1alpha1.JobTemplate, isKnown bool) {
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

// ReadQueues reads all queues from the server; it returns nil if it cannot read them.
func (f *Factory) ReadQueues(ctx context.Context) []*schedulingv1beta1.Queue {
	c, err := f.Client()
	if err != nil {
		return nil
	}
	queues, err := ListObjects[*schedulingv1beta1.Queue](ctx, c, &schedulingv1beta1.QueueList{})
	if err != nil {
		return nil
	}
	return queues
}

// ValidateCreate returns the error with which the server would reject a new object, or nil. If alone is set, the
// command does not send the object, so ValidateCreate also prints warnings about valid but probably unintended
// settings.
func (f *Factory) ValidateCreate(around *check.Around, object client.Object, alone bool) error {
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
		f.printWarnings(kind.Kind, object, verdict.Warnings)
	}
	return ValidationError(verdict.Errors)
}

// printWarnings prints warnings about valid but probably unintended settings, as the server would.
func (f *Factory) printWarnings(kind string, object client.Object, warnings []string) {
	name := object.GetName()
	if name == "" {
		name = object.GetGenerateName() + "…"
	}
	for _, one := range warnings {
		f.Warnf("%s %q: %s", strings.ToLower(kind), name, one)
	}
}

// ValidateUpdate returns the error with which the server would reject a change, or nil. old is the object as it was
// read. See ValidateCreate for alone.
func (f *Factory) ValidateUpdate(around *check.Around, old, object client.Object, alone bool) error {
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
		f.printWarnings(kind.Kind, object, verdict.Warnings)
	}
	return ValidationError(verdict.Errors)
}

// ValidateDelete returns the error with which the server would reject a deletion, or nil. Only the name of the object
// has to be set.
func ValidateDelete(around *check.Around, object client.Object) error {
	kind, err := apiutil.GVKForObject(object, Scheme())
	if err != nil {
		return err
	}
	return ValidationError(check.Delete(kind, object.GetName(), around).Errors)
}

// ValidationError converts validation errors to one error per field, with the server's wording and without hints, which
// callers add. The cause of each error is the *field.Error.
func ValidationError(errs field.ErrorList) error {
	problems := make([]error, len(errs))
	for i, one := range errs {
		problem := usererror.Errorf("", "%s", one.Error())
		problem.Err = one
		problems[i] = problem
	}
	return errors.Join(problems...)
}
