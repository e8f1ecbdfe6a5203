package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/controllers/index"
)

// Cache holds the objects that a component has received. Like the cache of controller-runtime, it has the indexes of
// the controllers and returns objects without copying them on request.
type Cache struct {
	kinds map[reflect.Type]*cachedKind // by the Go type of the object, such as *corev1.Pod
}

// cachedKind holds the cached objects of one kind.
type cachedKind struct {
	gvk        schema.GroupVersionKind
	resource   schema.GroupResource
	namespaces map[string]*cachedNamespace
	sorted     []string // namespaces
	indexes    []*cachedIndex
}

type cachedNamespace struct {
	objects map[string]client.Object
	sorted  []client.Object // by name
}

// cachedIndex holds the objects of one kind by the values of one index.
type cachedIndex struct {
	index   index.Index
	objects map[string][]client.Object // sorted by namespace and name
}

// NewCache returns a cache with the given objects. The cache keeps them.
func NewCache(objects ...client.Object) *Cache {
	c := &Cache{kinds: map[reflect.Type]*cachedKind{}}
	for _, o := range objects {
		c.Apply(Change{Object: o})
	}
	return c
}

var _ client.Reader = &Cache{}

// controllerIndexes are the indexes by the Go type of their objects.
var controllerIndexes = func() map[reflect.Type][]index.Index {
	all := map[reflect.Type][]index.Index{}
	for _, i := range index.All() {
		t := reflect.TypeOf(i.Object)
		all[t] = append(all[t], i)
	}
	return all
}()

// kindOf returns the cached objects of a Go type, such as *corev1.Pod.
func (c *Cache) kindOf(t reflect.Type) *cachedKind {
	if k := c.kinds[t]; k != nil {
		return k
	}
	k := &cachedKind{resource: schema.GroupResource{Resource: t.Elem().Name()}, namespaces: map[string]*cachedNamespace{}}
	if known := findKind(func(k *kind) bool { return k.goType == t.Elem() }); known != nil {
		k.gvk, k.resource = known.gvk, known.resource
	}
	for _, i := range controllerIndexes[t] {
		k.indexes = append(k.indexes, &cachedIndex{index: i, objects: map[string][]client.Object{}})
	}
	c.kinds[t] = k
	return k
}

// Apply applies a change, as a cache does when a watch delivers it. The cache keeps the object.
func (c *Cache) Apply(change Change) {
	if change.Object == nil {
		c.kindOf(reflect.TypeOf(change.Old)).remove(client.ObjectKeyFromObject(change.Old))
		return
	}
	c.kindOf(reflect.TypeOf(change.Object)).set(change.Object)
}

// Replace replaces all objects of one kind, as an informer of client-go does after a list. It returns the deletions and then
// the other changes, in the order of the objects' names; their versions are not set. As with an informer, each listed
// object that was known before is an update, even if it has not changed.
func (c *Cache) Replace(gvk schema.GroupVersionKind, objects []client.Object) []Change {
	listed := map[types.NamespacedName]bool{}
	var updates []Change
	for _, o := range objects {
		listed[client.ObjectKeyFromObject(o)] = true
		old := c.kindOf(reflect.TypeOf(o)).find(client.ObjectKeyFromObject(o))
		updates = append(updates, Change{Kind: gvk, Old: old, Object: o})
	}
	var changes []Change
	for _, k := range c.kinds {
		if k.gvk != gvk {
			continue
		}
		for _, o := range k.all("") {
			if !listed[client.ObjectKeyFromObject(o)] {
				changes = append(changes, Change{Kind: gvk, Old: o})
			}
		}
	}
	slices.SortStableFunc(updates, func(a, b Change) int { return compareNames(a.Object, b.Object) })
	changes = append(changes, updates...)
	for i := range changes {
		c.Apply(changes[i])
	}
	return changes
}

func compareNames(a, b client.Object) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

func (k *cachedKind) find(name types.NamespacedName) client.Object {
	if n := k.namespaces[name.Namespace]; n != nil {
		return n.objects[name.Name]
	}
	return nil
}

func (k *cachedKind) set(o client.Object) {
	namespace, name := o.GetNamespace(), o.GetName()
	n := k.namespaces[namespace]
	if n == nil {
		n = &cachedNamespace{objects: map[string]client.Object{}}
		k.namespaces[namespace] = n
		at, _ := slices.BinarySearch(k.sorted, namespace)
		k.sorted = slices.Insert(k.sorted, at, namespace)
	}
	old := n.objects[name]
	n.objects[name] = o
	n.sorted = replaceSorted(n.sorted, old, o)
	for _, i := range k.indexes {
		i.replace(old, o)
	}
}

func (k *cachedKind) remove(name types.NamespacedName) {
	n := k.namespaces[name.Namespace]
	if n == nil || n.objects[name.Name] == nil {
		return
	}
	old := n.objects[name.Name]
	delete(n.objects, name.Name)
	n.sorted = replaceSorted(n.sorted, old, nil)
	for _, i := range k.indexes {
		i.replace(old, nil)
	}
}

// replaceSorted replaces an object in a sorted list. Either object may be nil; otherwise, both have the same name.
func replaceSorted(list []client.Object, old, o client.Object) []client.Object {
	at, _ := slices.BinarySearchFunc(list, cmp.Or(old, o), compareNames)
	switch {
	case old == nil:
		return slices.Insert(list, at, o)
	case o == nil:
		return slices.Delete(list, at, at+1)
	}
	list[at] = o
	return list
}

func (i *cachedIndex) replace(old, o client.Object) {
	var before, after []string
	if old != nil {
		before = i.index.Values(old)
	}
	if o != nil {
		after = i.index.Values(o)
	}
	for _, value := range before {
		switch {
		case !slices.Contains(after, value):
			i.set(value, replaceSorted(i.objects[value], old, nil))
		default:
			i.set(value, replaceSorted(i.objects[value], old, o))
		}
	}
	for n, value := range after {
		if !slices.Contains(before, value) && !slices.Contains(after[:n], value) {
			i.set(value, replaceSorted(i.objects[value], nil, o))
		}
	}
}

func (i *cachedIndex) set(value string, objects []client.Object) {
	if len(objects) == 0 {
		delete(i.objects, value)
	} else {
		i.objects[value] = objects
	}
}

// all returns the objects of a namespace, or of all namespaces, sorted by namespace and name.
func (k *cachedKind) all(namespace string) []client.Object {
	if namespace != "" {
		if n := k.namespaces[namespace]; n != nil {
			return n.sorted
		}
		return nil
	}
	var objects []client.Object
	for _, namespace := range k.sorted {
		objects = append(objects, k.namespaces[namespace].sorted...)
	}
	return objects
}

// Get returns an object.
func (c *Cache) Get(_ context.Context, name client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	var options client.GetOptions
	options.ApplyOptions(opts)
	k := c.kindOf(reflect.TypeOf(o))
	cached := k.find(name)
	if cached == nil {
		return apierrors.NewNotFound(k.resource, name.Name)
	}
	if isShared(options.UnsafeDisableDeepCopy) {
		reflect.ValueOf(o).Elem().Set(reflect.ValueOf(cached).Elem())
		return nil
	}
	if err := copyInto(cached, o); err != nil {
		return err
	}
	o.GetObjectKind().SetGroupVersionKind(k.gvk)
	return nil
}

func isShared(unsafeDisableDeepCopy *bool) bool {
	return unsafeDisableDeepCopy != nil && *unsafeDisableDeepCopy
}

// List returns the matching objects, sorted by namespace and name.
func (c *Cache) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	if !items.IsValid() {
		return fmt.Errorf("%T is not a list", list)
	}
	k, err := c.kindOfList(list, items)
	if err != nil {
		return err
	}
	candidates, err := k.candidates(&o)
	if err != nil {
		return err
	}
	found := reflect.MakeSlice(items.Type(), 0, len(candidates))
	for _, object := range candidates {
		if o.Namespace != "" && object.GetNamespace() != o.Namespace {
			continue
		}
		if o.LabelSelector != nil && !o.LabelSelector.Matches(labels.Set(object.GetLabels())) {
			continue
		}
		if !isShared(o.UnsafeDisableDeepCopy) {
			object = copyObject(object)
			object.GetObjectKind().SetGroupVersionKind(k.gvk)
		}
		if items.Type() == metadataItems {
			object = metadataOf(object, k.gvk)
		}
		found = reflect.Append(found, reflect.ValueOf(object).Elem())
	}
	items.Set(found)
	return nil
}

var metadataItems = reflect.TypeFor[[]metav1.PartialObjectMetadata]()

// kindOfList returns the cached objects of the kind of a list's items.
func (c *Cache) kindOfList(list client.ObjectList, items reflect.Value) (*cachedKind, error) {
	if items.Type() != metadataItems {
		return c.kindOf(reflect.PointerTo(items.Type().Elem())), nil
	}
	gvk := list.GetObjectKind().GroupVersionKind()
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	k := findKind(func(k *kind) bool { return k.gvk == gvk })
	if k == nil {
		return nil, fmt.Errorf("unknown kind %s", gvk)
	}
	return c.kindOf(reflect.PointerTo(k.goType)), nil
}

// metadataOf returns the metadata of an object, which it shares with the object.
func metadataOf(object client.Object, gvk schema.GroupVersionKind) client.Object {
	metadata := meta.AsPartialObjectMetadata(object)
	metadata.SetGroupVersionKind(gvk)
	return metadata
}

// candidates returns the objects that match the field selector. The result belongs to the cache.
func (k *cachedKind) candidates(o *client.ListOptions) ([]client.Object, error) {
	if o.FieldSelector == nil || o.FieldSelector.Empty() {
		return k.all(o.Namespace), nil
	}
	requirements := o.FieldSelector.Requirements()
	if len(requirements) != 1 {
		return nil, fmt.Errorf("field selector %s: the cache supports one requirement", o.FieldSelector)
	}
	for _, i := range k.indexes {
		if i.index.Name == requirements[0].Field {
			return i.objects[requirements[0].Value], nil
		}
	}
	return nil, fmt.Errorf("no index with the name %s has been defined for %s", requirements[0].Field, k.resource.Resource)
}
