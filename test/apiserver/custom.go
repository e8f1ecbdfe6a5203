package apiserver

import (
	"context"
	"reflect"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// customRules are the rules for the kinds of this project. Unlike the real API server, which handles custom resources as
// JSON, they work on the Go types.
type customRules struct {
	kind     *kind
	defaults func(client.Object)                         // defaults of the schema; may be nil
	validate func(object, old client.Object) fieldErrors // old is nil for a new object; may be nil
}

func (c *customRules) setDefaults(object client.Object) {
	if c.defaults != nil {
		c.defaults(object)
	}
}

func (c *customRules) prepareCreate(_ context.Context, object client.Object) error {
	if c.kind.hasStatus {
		reflect.ValueOf(object).Elem().Field(c.kind.statusField).SetZero()
	}
	object.SetGeneration(1)
	return nil
}

func (c *customRules) invalid(object client.Object, errs fieldErrors) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(c.kind.gvk.GroupKind(), object.GetName(), errs)
}

func (c *customRules) prepareUpdate(_ context.Context, subresource string, object, old client.Object) error {
	object.SetGeneration(old.GetGeneration())
	value, oldValue := reflect.ValueOf(object).Elem(), reflect.ValueOf(old).Elem()
	if subresource == "status" {
		c.keepAllButStatus(value, oldValue)
	} else {
		if c.kind.hasStatus {
			value.Field(c.kind.statusField).Set(oldValue.Field(c.kind.statusField))
		}
		if c.differs(value, oldValue) {
			object.SetGeneration(old.GetGeneration() + 1)
		}
	}
	keepSystemMetadata(object, old)
	return nil
}

// keepAllButStatus makes an object a copy of the old object, except for its status.
func (c *customRules) keepAllButStatus(value, old reflect.Value) {
	status := reflect.New(value.Field(c.kind.statusField).Type()).Elem()
	status.Set(value.Field(c.kind.statusField))
	value.Set(old)
	value.Field(c.kind.statusField).Set(status)
}

// differs reports whether fields other than metadata differ.
func (c *customRules) differs(value, old reflect.Value) bool {
	for i := range value.NumField() {
		switch value.Type().Field(i).Name {
		case "TypeMeta", "ObjectMeta":
			continue
		case "Status":
			if c.kind.hasStatus {
				continue
			}
		}
		if !equality.Semantic.DeepEqualWithNilDifferentFromEmpty(value.Field(i).Addr().Interface(), old.Field(i).Addr().Interface()) {
			return true
		}
	}
	return false
}

// keepSystemMetadata restores the metadata that an update cannot change.
func keepSystemMetadata(object, old client.Object) {
	if object.GetUID() == "" {
		object.SetUID(old.GetUID())
	}
	object.SetCreationTimestamp(old.GetCreationTimestamp())
	if old.GetDeletionTimestamp() != nil {
		object.SetDeletionTimestamp(old.GetDeletionTimestamp())
	}
	if old.GetDeletionGracePeriodSeconds() != nil && object.GetDeletionGracePeriodSeconds() == nil {
		object.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
}

// isEqual reports whether two versions of an object have the same content, so that a write would not create a new
// version.
func (k *kind) isEqual(object, old client.Object) bool {
	if k.custom {
		return equality.Semantic.DeepEqualWithNilDifferentFromEmpty(object, old)
	}
	if lease, ok := object.(*coordinationv1.Lease); ok && !lease.Spec.RenewTime.Equal(old.(*coordinationv1.Lease).Spec.RenewTime) {
		return false // the usual case
	}
	return equality.Semantic.DeepEqual(object, old)
}

// removeDuplicateOwners removes repeated owner references, as the real API server does.
func removeDuplicateOwners(object client.Object) {
	owners := object.GetOwnerReferences()
	if len(owners) < 2 {
		return
	}
	kept := owners[:0:0]
	for i := range owners {
		isDuplicate := slices.ContainsFunc(kept, func(o ownerReference) bool { return reflect.DeepEqual(o, owners[i]) })
		if !isDuplicate {
			kept = append(kept, owners[i])
		}
	}
	if len(kept) < len(owners) {
		object.SetOwnerReferences(kept)
	}
}
