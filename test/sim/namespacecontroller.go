package sim

import (
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/vc-batch/vc/test/apiserver"
)

// namespaceController plays the part of the namespace controller of kube-controller-manager. It deletes the objects of a
// terminating namespace, one kind after the other in a random order, and removes the finalizer when no object is left.
type namespaceController struct {
	world  *World
	random *rand.Rand
	active map[string]bool // namespaces that the controller is working on
}

func newNamespaceController(w *World) *namespaceController {
	return &namespaceController{world: w, random: w.randomFor("namespace controller"), active: map[string]bool{}}
}

const (
	// namespaceGrace is the time before the first deletion. The real controller waits as long, because some API servers
	// may not have received the deletion of the namespace yet.
	namespaceGrace = 5 * time.Second
	// namespaceRetry is the pause after which the controller looks again for objects that are left.
	namespaceRetry = 10 * time.Second
	// shortestKindPause and longestKindPause limit the pause before the objects of the next kind are deleted.
	shortestKindPause = 5 * time.Millisecond
	longestKindPause  = 2 * time.Second
)

// observe starts the work on a namespace when it is deleted.
func (c *namespaceController) observe(change apiserver.Change) {
	c.observeStray(change)
	namespace, ok := change.Object.(*corev1.Namespace)
	if !ok || namespace.DeletionTimestamp == nil || c.active[namespace.Name] {
		return
	}
	c.active[namespace.Name] = true
	c.after(namespaceGrace, func() { c.startPass(namespace.Name) })
}

// observeStray lets an administrator delete an object that was stored after its namespace was gone. The API server checks
// the namespace before it calls webhooks, so this happens if they respond late. The real controller does not find such
// objects.
func (c *namespaceController) observeStray(change apiserver.Change) {
	o := change.Object
	isNew := change.Old == nil && o != nil && o.GetNamespace() != ""
	if !isNew || c.world.namespace(o.GetNamespace()) != nil {
		return
	}
	c.world.cover("deleted namespace", "an object is stored after the namespace is gone")
	c.after(namespaceRetry, func() { c.deleteStray(change.Kind, o.GetNamespace(), o.GetName()) })
}

func (c *namespaceController) deleteStray(kind schema.GroupVersionKind, namespace, name string) {
	if c.world.namespace(namespace) != nil {
		return // the namespace was created again, and the object belongs to it
	}
	background := metav1.DeletePropagationBackground
	_, err := c.world.users.do(&apiserver.Request{Verb: apiserver.Delete, Kind: kind, Namespace: namespace, Name: name, Propagation: &background})
	if err != nil && !apierrors.IsNotFound(err) {
		c.after(namespaceRetry, func() { c.deleteStray(kind, namespace, name) })
	}
}

func (c *namespaceController) after(pause time.Duration, run func()) {
	c.world.add(c.world.now.Add(pause), nil, run)
}

// startPass deletes all objects of a namespace that are not being deleted yet.
func (c *namespaceController) startPass(namespace string) {
	kinds := c.world.server.Kinds()
	c.random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	c.deleteKinds(namespace, kinds)
}

// deleteKinds deletes the objects of the first kind that has objects to delete, and later those of the other kinds.
func (c *namespaceController) deleteKinds(namespace string, kinds []schema.GroupVersionKind) {
	if c.world.serverDown {
		c.after(namespaceRetry, func() { c.startPass(namespace) })
		return
	}
	requests := c.requestsFor(namespace)
	for i, kind := range kinds {
		if kind == namespaceKind || len(requests[kind]) == 0 {
			continue
		}
		for _, r := range requests[kind] {
			c.world.cover("deleted namespace", "an object is deleted: "+r.Kind.Kind)
			c.world.manager.do(r)
		}
		c.after(between(c.random, shortestKindPause, longestKindPause), func() { c.deleteKinds(namespace, kinds[i+1:]) })
		return
	}
	c.finishPass(namespace)
}

// finishPass removes the finalizer of a namespace if it is empty. Otherwise, another pass follows.
func (c *namespaceController) finishPass(namespace string) {
	for _, r := range c.requestsFor(namespace)[namespaceKind] {
		c.world.manager.do(r)
	}
	if c.world.namespace(namespace) != nil {
		c.after(namespaceRetry, func() { c.startPass(namespace) })
		return
	}
	c.world.cover("deleted namespace", "the namespace is gone")
	delete(c.active, namespace)
}

// requestsFor returns the next requests of the real controller that concern a namespace, by kind.
func (c *namespaceController) requestsFor(namespace string) map[schema.GroupVersionKind][]*apiserver.Request {
	requests := map[schema.GroupVersionKind][]*apiserver.Request{}
	for _, r := range c.world.server.NamespaceRequests() {
		isFinalization := r.Kind == namespaceKind && r.Name == namespace
		if r.Namespace == namespace || isFinalization {
			requests[r.Kind] = append(requests[r.Kind], r)
		}
	}
	return requests
}

var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// namespace returns a namespace, or nil.
func (w *World) namespace(name string) *corev1.Namespace {
	return apiserver.Find[*corev1.Namespace](w.server, "", name)
}
