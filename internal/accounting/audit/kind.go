package audit

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
)

// Object is an Account or a QOS.
type Object interface {
	metav1.Object
	runtime.Object
}

// kind holds the properties of an Account or a QOS that its changes need.
type kind struct {
	name                string
	add, modify, remove accounting.ChangeAction
	// spec is the spec of the object, and empty is a spec without any value.
	spec, empty any
	isQOS       bool
}

// kindOf returns the kind of an object. Every object that is not a QOS is an account.
func kindOf(object Object) kind {
	if qos, ok := object.(*accountv1alpha1.QOS); ok {
		return kind{
			name: "QOS", add: accounting.AddQOS, modify: accounting.ModifyQOS, remove: accounting.RemoveQOS,
			spec: &qos.Spec, empty: &accountv1alpha1.QOSSpec{}, isQOS: true,
		}
	}
	k := kind{name: "account", add: accounting.AddAccount, modify: accounting.ModifyAccount, remove: accounting.RemoveAccount, empty: &accountv1alpha1.AccountSpec{}}
	k.spec = k.empty
	if account, ok := object.(*accountv1alpha1.Account); ok {
		k.spec = &account.Spec
	}
	return k
}

// newChange returns a change of an object without its description.
func (k *kind) newChange(r Request, object Object, action accounting.ChangeAction) accounting.Change {
	change := accounting.Change{ID: r.ID, Time: r.Time, Actor: r.User, Action: action}
	if k.isQOS {
		change.QOS = object.GetName()
	} else {
		change.Account = object.GetName()
	}
	return change
}

// NameOf returns the kind and the name of an object, for messages.
func NameOf(object Object) string { return kindOf(object).name + " " + object.GetName() }
