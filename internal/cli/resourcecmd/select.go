package resourcecmd

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
)

// ReadSelected reads the selected objects. It returns the existing objects together with errors about missing ones.
func (k *Kind[T]) ReadSelected(ctx context.Context, f *cli.Factory, c client.Client, sel *cli.Selection) ([]T, error) {
	namespace, err := f.Namespace()
	if err != nil {
		return nil, err
	}
	if k.ClusterScoped {
		namespace = ""
	}
	return cli.ReadSelected(ctx, c, sel, namespace, k.NewList(), func(name string) (T, error) {
		return k.readNamed(ctx, f, c, namespace, name, sel.ByOther)
	})
}

// readNamed reads one object. If it does not exist, the error suggests a similar name.
func (k *Kind[T]) readNamed(ctx context.Context, f *cli.Factory, c client.Client, namespace, name string, byOther bool) (T, error) {
	if byOther && k.Otherwise != nil && strings.Contains(name, "/") {
		if other, found, err := k.Otherwise(ctx, c, namespace, name); found || err != nil {
			return other, err
		}
	}
	object := k.New()
	err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, object)
	if !cli.IsMissing(err) {
		return object, err
	}
	if byOther && k.Otherwise != nil {
		if other, found, err := k.Otherwise(ctx, c, namespace, name); found || err != nil {
			return other, err
		}
	}
	names, nameErr := f.ListNames(ctx, k.GVK, !k.ClusterScoped)
	if nameErr != nil {
		names = nil
	}
	missing := cli.NotFoundError(k.Called, name, namespace, names)
	missing.Err = err
	if missing.Hint == "" {
		missing.Hint = fmt.Sprintf("vcctl %s list shows the names in this namespace; -A shows all namespaces", k.Noun)
		if k.ClusterScoped {
			missing.Hint = fmt.Sprintf("vcctl %s list shows the existing names", k.Noun)
		}
	}
	return object, missing
}

// resolveOtherNames replaces related names, such as the job name of a PodGroup, with the objects' own names.
func (k *Kind[T]) resolveOtherNames(ctx context.Context, f *cli.Factory, namespace string, names []string) ([]string, error) {
	if k.Otherwise == nil || len(names) == 0 {
		return names, nil
	}
	c, err := f.Client()
	if err != nil {
		return nil, err
	}
	own := make([]string, len(names))
	for i, name := range names {
		own[i] = name
		err := c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, k.New())
		if !cli.IsMissing(err) && !strings.Contains(name, "/") {
			continue // the list reports the error
		}
		other, found, err := k.Otherwise(ctx, c, namespace, name)
		if err != nil {
			return nil, err
		}
		if found {
			own[i] = other.GetName()
		}
	}
	return own, nil
}

// DescribeObjects returns the names and states of objects, for use in a confirmation.
func (k *Kind[T]) DescribeObjects(objects []T, qualified bool) []string {
	all := make([]string, len(objects))
	for i, object := range objects {
		name := object.GetName()
		if qualified {
			name = object.GetNamespace() + "/" + name
		}
		if k.State != nil {
			name += " (" + k.State(object) + ")"
		}
		all[i] = name
	}
	return all
}
