package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Send sends a request to the API server and returns its response. A simulation adds faults. Send must not modify the
// returned object, which may belong to the server.
type Send func(ctx context.Context, r *Request) (runtime.Object, error)

// Client is a client without a cache. It turns calls into requests.
type Client struct {
	send   Send
	scheme *runtime.Scheme
}

var _ client.Client = &Client{}

// NewClient returns a client that sends its requests with send.
func NewClient(scheme *runtime.Scheme, send Send) *Client {
	return &Client{send: send, scheme: scheme}
}

// errUnsupported is returned for calls that no client of this project makes.
var errUnsupported = errors.New("the simulated client does not support this call")

// Scheme returns the scheme of the client.
func (c *Client) Scheme() *runtime.Scheme { return c.scheme }

// RESTMapper returns nil.
func (c *Client) RESTMapper() meta.RESTMapper { return nil }

// GroupVersionKindFor returns the kind of an object.
func (c *Client) GroupVersionKindFor(o runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(o, c.scheme)
}

// IsObjectNamespaced reports whether objects of this kind belong to namespaces.
func (c *Client) IsObjectNamespaced(o runtime.Object) (bool, error) {
	gvk, err := c.GroupVersionKindFor(o)
	if err != nil {
		return false, err
	}
	k := findKind(func(k *kind) bool { return k.gvk == gvk })
	if k == nil {
		return false, fmt.Errorf("unknown kind %s", gvk)
	}
	return k.namespaced, nil
}

// newRequest returns a request for an object.
func (c *Client) newRequest(verb Verb, o runtime.Object, name client.ObjectKey) (*Request, error) {
	gvk, err := c.GroupVersionKindFor(o)
	if err != nil {
		return nil, err
	}
	r := &Request{Verb: verb, Kind: gvk, Namespace: name.Namespace, Name: name.Name, Shared: true}
	if k := findKind(func(k *kind) bool { return k.gvk == gvk }); k != nil && !k.namespaced {
		r.Namespace = ""
	}
	return r, nil
}

// sendObjectRequest sends a request for an object, and decodes the response into the object.
func (c *Client) sendObjectRequest(ctx context.Context, r *Request, o client.Object) error {
	result, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	return decodeInto(result, o)
}

// decodeInto decodes a response into an object as the real client does. Protobuf replaces the object. The kinds of this
// project use JSON, which keeps those fields, and entries of maps, that the response does not contain.
func decodeInto(from runtime.Object, to client.Object) error {
	goType := reflect.TypeOf(to).Elem()
	k := findKind(func(k *kind) bool { return k.goType == goType })
	if k == nil || !k.custom || reflect.ValueOf(to).Elem().IsZero() {
		return copyInto(from, to)
	}
	data, err := k.encodeDifferences(from, to)
	if err != nil {
		return err
	}
	if err := utiljson.Unmarshal(data, to); err != nil {
		return err
	}
	to.GetObjectKind().SetGroupVersionKind(noKind)
	return nil
}

// encodeDifferences returns the JSON form of those top-level fields of an object that differ from another object. Decoding
// the others would change nothing.
func (k *kind) encodeDifferences(from runtime.Object, to client.Object) ([]byte, error) {
	content := map[string]any{}
	value, other := reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem()
	for _, f := range k.fields {
		v := value.Field(f.index)
		isOmitted := f.omitEmpty && isEmpty(v)
		if !isOmitted && !reflect.DeepEqual(v.Addr().Interface(), other.Field(f.index).Addr().Interface()) {
			content[f.name] = v.Addr().Interface()
		}
	}
	return json.Marshal(content)
}

// copyInto replaces the content of an object by a copy of another object, or of its metadata.
func copyInto(from runtime.Object, to runtime.Object) error {
	if metadata, ok := to.(*metav1.PartialObjectMetadata); ok {
		object, err := meta.Accessor(from)
		if err != nil {
			return err
		}
		kind := metadata.TypeMeta
		*metadata = *meta.AsPartialObjectMetadata(object).DeepCopy()
		metadata.TypeMeta = kind
		return nil
	}
	target, source := reflect.ValueOf(to), reflect.ValueOf(from)
	if target.Type() != source.Type() {
		return fmt.Errorf("the response is a %T, not a %T", from, to)
	}
	target.Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
	return nil
}

// Get reads an object.
func (c *Client) Get(ctx context.Context, name client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	r, err := c.newRequest(Get, o, name)
	if err != nil {
		return err
	}
	return c.sendObjectRequest(ctx, r, o)
}

// List reads objects.
func (c *Client) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	r, err := c.newRequest(List, list, client.ObjectKey{})
	if err != nil {
		return err
	}
	r.Kind.Kind = r.Kind.Kind[:len(r.Kind.Kind)-len("List")]
	r.Namespace, r.Labels, r.Fields, r.Limit, r.Continue = o.Namespace, o.LabelSelector, o.FieldSelector, o.Limit, o.Continue
	result, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	if metadata, ok := list.(*metav1.PartialObjectMetadataList); ok {
		return copyMetadataList(result, metadata)
	}
	return copyInto(result, list)
}

func copyMetadataList(from runtime.Object, to *metav1.PartialObjectMetadataList) error {
	list, ok := from.(metav1.ListInterface)
	if !ok {
		return fmt.Errorf("%T is not a list", from)
	}
	to.ListMeta = metav1.ListMeta{
		ResourceVersion: list.GetResourceVersion(), Continue: list.GetContinue(), RemainingItemCount: list.GetRemainingItemCount(),
	}
	to.Items = nil
	return meta.EachListItem(from, func(o runtime.Object) error {
		object, err := meta.Accessor(o)
		if err == nil {
			to.Items = append(to.Items, *meta.AsPartialObjectMetadata(object).DeepCopy())
		}
		return err
	})
}

// Create creates an object.
func (c *Client) Create(ctx context.Context, o client.Object, _ ...client.CreateOption) error {
	return c.sendObject(ctx, Create, "", o)
}

// Update replaces an object.
func (c *Client) Update(ctx context.Context, o client.Object, _ ...client.UpdateOption) error {
	return c.sendObject(ctx, Update, "", o)
}

func (c *Client) sendObject(ctx context.Context, verb Verb, subresource string, o client.Object) error {
	r, err := c.newRequest(verb, o, client.ObjectKeyFromObject(o))
	if err != nil {
		return err
	}
	// The caller may change its object while the request is under way.
	r.Subresource, r.Object = subresource, copyObject(o)
	return c.sendObjectRequest(ctx, r, o)
}

// Patch changes an object.
func (c *Client) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	var options client.PatchOptions
	options.ApplyOptions(opts)
	return c.sendPatch(ctx, "", o, patch, options.FieldManager)
}

func (c *Client) sendPatch(ctx context.Context, subresource string, o client.Object, patch client.Patch, manager string) error {
	data, err := patch.Data(o)
	if err != nil {
		return err
	}
	r, err := c.newRequest(Patch, o, client.ObjectKeyFromObject(o))
	if err != nil {
		return err
	}
	r.Subresource, r.PatchType, r.Patch, r.FieldManager = subresource, patch.Type(), data, manager
	return c.sendObjectRequest(ctx, r, o)
}

// Delete deletes an object.
func (c *Client) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	r, err := c.newRequest(Delete, o, client.ObjectKeyFromObject(o))
	if err != nil {
		return err
	}
	var options client.DeleteOptions
	options.ApplyOptions(opts)
	r.Preconditions, r.GracePeriod, r.Propagation = options.Preconditions, options.GracePeriodSeconds, options.PropagationPolicy
	_, err = c.send(ctx, r)
	return err
}

// DeleteAllOf returns an error.
func (c *Client) DeleteAllOf(context.Context, client.Object, ...client.DeleteAllOfOption) error {
	return errUnsupported
}

// Apply returns an error.
func (c *Client) Apply(context.Context, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return errUnsupported
}

// Status returns a writer of statuses.
func (c *Client) Status() client.SubResourceWriter { return c.SubResource("status") }

// SubResource returns a client for a subresource.
func (c *Client) SubResource(name string) client.SubResourceClient {
	return &subresourceClient{client: c, name: name}
}

type subresourceClient struct {
	client *Client
	name   string
}

func (s *subresourceClient) Get(context.Context, client.Object, client.Object, ...client.SubResourceGetOption) error {
	return errUnsupported
}

// Create posts a subresource, such as the binding of a pod.
func (s *subresourceClient) Create(ctx context.Context, o, body client.Object, _ ...client.SubResourceCreateOption) error {
	r, err := s.client.newRequest(Create, o, client.ObjectKeyFromObject(o))
	if err != nil {
		return err
	}
	r.Subresource, r.Object = s.name, copyObject(body)
	if r.Object.GetName() == "" {
		r.Object.SetName(o.GetName())
	}
	_, err = s.client.send(ctx, r)
	return err
}

func (s *subresourceClient) Update(ctx context.Context, o client.Object, _ ...client.SubResourceUpdateOption) error {
	return s.client.sendObject(ctx, Update, s.name, o)
}

func (s *subresourceClient) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	var options client.SubResourcePatchOptions
	options.ApplyOptions(opts)
	return s.client.sendPatch(ctx, s.name, o, patch, options.FieldManager)
}

func (s *subresourceClient) Apply(context.Context, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
	return errUnsupported
}

// errWrongType returns the error for a response of an unexpected type.
func errWrongType(o runtime.Object) error {
	return apierrors.NewInternalError(fmt.Errorf("unexpected response %T", o))
}
