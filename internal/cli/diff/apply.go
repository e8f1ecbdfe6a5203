package diff

import (
	"context"
	"errors"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// pair holds the live and the changed version of an object.
type pair struct {
	// name identifies the object in messages: nlp/job.batch.volcano.sh/train.
	name string
	// file is the name of the object's file for an external diff program.
	file string
	// live is nil for an object that does not exist.
	live, applied *unstructured.Unstructured
}

// compareObjects returns pairs for the objects. If some objects cannot be compared, it returns their errors together
// with the other pairs.
func (o *options) compareObjects(ctx context.Context, objects []cli.FileObject) ([]pair, error) {
	c, err := o.f.Client()
	if err != nil {
		return nil, err
	}
	strict := o.fields.WrapClient(c)
	busy := o.f.Streams.StartBusyLine("comparing")
	defer busy.RemoveLine()
	var pairs []pair
	var problems []error
	for i, object := range objects {
		if len(objects) > 1 {
			busy.SetText("comparing %d/%d", i+1, len(objects))
		}
		one, err := o.compareObject(ctx, strict, object.Object)
		if err != nil {
			if unknown := cli.UnknownFields(object.Object, err); unknown != nil {
				err = unknown
			}
			problems = append(problems, cli.AddFileSource(err, object))
			continue
		}
		pairs = append(pairs, one)
	}
	return pairs, errors.Join(problems...)
}

// compareObject reads the live object and applies the object from the file in a server dry run.
func (o *options) compareObject(ctx context.Context, c client.Client, filed *unstructured.Unstructured) (pair, error) {
	kind, name := filed.GroupVersionKind(), filed.GetName()
	if name == "" {
		return pair{}, usererror.Errorf("set metadata.name to compare the object; `vcctl job run -f` and `kubectl create -f` generate a new name each time",
			"%s %q has only generateName, so it cannot be compared with a live object", strings.ToLower(kind.Kind), filed.GetGenerateName())
	}
	one := pair{name: displayName(filed), file: diffFileName(filed)}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(kind)
	err := c.Get(ctx, client.ObjectKeyFromObject(filed), live)
	switch {
	case cli.IsMissing(err):
		one.applied = filed.DeepCopy()
		if err := c.Create(ctx, one.applied, client.DryRunAll); err != nil {
			return pair{}, err
		}
	case err != nil:
		return pair{}, err
	default:
		if live.GetDeletionTimestamp() != nil {
			o.f.Warnf("%s %q is being deleted", strings.ToLower(kind.Kind), name)
		}
		one.live, one.applied = live, live.DeepCopy()
		patch, err := applyPatch(filed, live)
		if err != nil {
			return pair{}, err
		}
		if err := c.Patch(ctx, one.applied, patch, client.DryRunAll); err != nil {
			return pair{}, err
		}
	}
	one.removeServerFields()
	return one, nil
}

// applyPatch returns the patch that kubectl apply would send. It adds and changes the fields that are in the file,
// and removes the fields that were in the last applied version but are no longer in the file.
func applyPatch(filed, live *unstructured.Unstructured) (client.Patch, error) {
	filed = filed.DeepCopy()
	dropAnnotation(filed, corev1.LastAppliedConfigAnnotation)
	modified, err := filed.MarshalJSON()
	if err != nil {
		return nil, err
	}
	current, err := live.MarshalJSON()
	if err != nil {
		return nil, err
	}
	original := []byte(live.GetAnnotations()[corev1.LastAppliedConfigAnnotation])
	builtIn, err := scheme.Scheme.New(filed.GroupVersionKind())
	if err != nil { // a custom resource, whose lists are replaced completely
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current)
		return client.RawPatch(types.MergePatchType, patch), err
	}
	fields, err := strategicpatch.NewPatchMetaFromStruct(builtIn)
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, fields, true)
	return client.RawPatch(types.StrategicMergePatchType, patch), err
}

// displayName returns the name by which messages refer to an object.
func displayName(object *unstructured.Unstructured) string {
	kind := object.GroupVersionKind()
	name := strings.ToLower(kind.Kind)
	if kind.Group != "" {
		name += "." + kind.Group
	}
	name += "/" + object.GetName()
	if namespace := object.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return name
}

// diffFileName returns the file name of an object, in the format of kubectl diff.
func diffFileName(object *unstructured.Unstructured) string {
	kind := object.GroupVersionKind()
	parts := []string{kind.Version, kind.Kind, object.GetNamespace(), object.GetName()}
	if kind.Group != "" {
		parts = append([]string{kind.Group}, parts...)
	}
	return strings.ReplaceAll(strings.Join(parts, "."), "/", "_")
}
