package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/check"
	"github.com/vc-batch/vc/api/keys"
)

// AccountReader reads the accounts.
type AccountReader interface {
	// Accounts returns the accounts that are known from a watch.
	Accounts() *accountv1alpha1.Tree
	// ReadAccounts returns the accounts from the API server.
	ReadAccounts(ctx context.Context) (*accountv1alpha1.Tree, error)
}

// accountLookup looks up accounts for one request. It reads them from the API server at most once. It is not safe for
// concurrent use.
type accountLookup struct {
	ctx     context.Context
	reader  AccountReader
	current *accountv1alpha1.Tree
	err     error // error from reading; if it is set, the results are not reliable
}

var _ check.AccountLookup = (*accountLookup)(nil)

func (l *accountLookup) Accounts() *accountv1alpha1.Tree { return l.reader.Accounts() }

func (l *accountLookup) CurrentAccounts() *accountv1alpha1.Tree {
	if l.current != nil || l.err != nil {
		return l.current
	}
	ctx, cancel := context.WithTimeout(l.ctx, liveReadTimeout)
	defer cancel()
	l.current, l.err = l.reader.ReadAccounts(ctx)
	return l.current
}

// assignAccount writes the default account of its user into a new object without an account. An update by a client that
// omits the account does not remove it. Without any Account object, the label is free text and is left unchanged.
func (h *hooks) assignAccount(ctx context.Context, request *admission.Request, object metav1.Object) {
	if h.accounts == nil || object.GetLabels()[keys.Account] != "" {
		return
	}
	switch request.Operation {
	case admissionv1.Create:
		h.assignDefaultAccount(ctx, request, object)
	case admissionv1.Update:
		if h.accounts.Accounts().Len() == 0 {
			return
		}
		if _, old, err := decodeObjects[metav1.PartialObjectMetadata](*request); err == nil {
			check.SetAccount(object, old.Labels[keys.Account])
		}
	}
}

// assignDefaultAccount writes the default account of its user into a new object. If the object must have an account, and
// the watch has none for the user, assignDefaultAccount reads the current accounts: the user may have been added just
// now. If they cannot be read, the check of the object reports it.
func (h *hooks) assignDefaultAccount(ctx context.Context, request *admission.Request, object metav1.Object) {
	check.DefaultAccount(object, h.accounts.Accounts())
	if object.GetLabels()[keys.Account] != "" || !h.requiresAccount(ctx, request) {
		return
	}
	lookup := accountLookup{ctx: ctx, reader: h.accounts}
	if current := lookup.CurrentAccounts(); current != nil {
		check.DefaultAccount(object, current)
	}
}

// longestRunTime returns the longest run time that the job's QOS or account permits; 0 means no limit.
func (h *hooks) longestRunTime(job *batchv1alpha1.Job) time.Duration {
	if h.accounts == nil {
		return 0
	}
	return check.LongestRunTime(job, h.accounts.Accounts())
}

// fixedLabel is a label of jobs that only users who may update the object that it names can change.
type fixedLabel struct {
	key string
	// resource is the resource of the objects that the label names.
	resource string
	// message says, with the old and the new value, that the label cannot be changed.
	message string
}

var (
	accountLabel = fixedLabel{keys.Account, "accounts", "the account of a job cannot be changed from %q to %q: restore it, or delete the job and submit it again"}
	qosLabel     = fixedLabel{keys.QOS, "qoses", "the QOS of a job cannot be changed from %q to %q: restore it, or delete the job and submit it again"}
)

// rejectLabelChange rejects an update that changes a label of a job, because the PodGroup and the pods of the job still have
// the value with which they were created. Only users who may update the object of the new value can make this change.
func (h *hooks) rejectLabelChange(ctx context.Context, request *admission.Request, label fixedLabel) (field.ErrorList, error) {
	var old, updated identity
	if json.Unmarshal(request.OldObject.Raw, &old) != nil || json.Unmarshal(request.Object.Raw, &updated) != nil {
		return nil, nil //nolint:nilerr // reported where the job is checked
	}
	before, after := old.Labels[label.key], updated.Labels[label.key]
	if before == after {
		return nil, nil
	}
	allowed, err := isPermitted(ctx, h.reviews, &request.UserInfo, authorizationv1.ResourceAttributes{
		Verb: "update", Group: accountv1alpha1.GroupName, Resource: label.resource, Name: after,
	})
	if err != nil || allowed {
		return nil, err
	}
	return field.ErrorList{field.Forbidden(field.NewPath("metadata", "labels").Key(label.key), fmt.Sprintf(label.message, before, after))}, nil
}

// rejectAccountChange rejects an update that changes the account of a job.
func (h *hooks) rejectAccountChange(ctx context.Context, request *admission.Request) (field.ErrorList, error) {
	if request.Operation != admissionv1.Update || h.accounts == nil || h.accounts.Accounts().Len() == 0 {
		return nil, nil
	}
	return h.rejectLabelChange(ctx, request, accountLabel)
}

// requiresAccount reports whether a new or changed object must have an account. A PodGroup that the controllers create
// needs none, because it must exist before its pods can be scheduled.
func (h *hooks) requiresAccount(ctx context.Context, request *admission.Request) bool {
	if !h.requireAccounts {
		return false
	}
	if request.Kind.Kind != "PodGroup" {
		return true
	}
	object := &metav1.PartialObjectMetadata{}
	if json.Unmarshal(request.Object.Raw, object) != nil {
		return true // reported where the PodGroup is checked
	}
	return !h.isMadeByControllers(ctx, request, object)
}
