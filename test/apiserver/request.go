package apiserver

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Verb is the kind of a request.
type Verb string

// The verbs that the clients of this project use.
const (
	Get    Verb = "get"
	List   Verb = "list"
	Create Verb = "create"
	Update Verb = "update"
	Patch  Verb = "patch"
	Delete Verb = "delete"
)

// Request is one request to the API server.
type Request struct {
	// User is the name of the user or service account that sends the request.
	User      string
	Verb      Verb
	Kind      schema.GroupVersionKind // kind of the object, also for lists
	Namespace string                  // empty for cluster-scoped objects, and for lists of all namespaces
	Name      string
	// Subresource is "status", "binding" (of pods), "finalize" (of namespaces) or empty.
	Subresource string
	// Object is the body of Create and Update. For the subresource binding, it is a Binding. Do does not modify it.
	Object client.Object
	// PatchType and Patch are the body of Patch. For server-side apply, Force is always true.
	PatchType types.PatchType
	Patch     []byte
	// FieldManager is the manager of the fields of a server-side apply.
	FieldManager string
	// Preconditions, GracePeriod and Propagation are options of Delete. They may be nil.
	Preconditions *metav1.Preconditions
	GracePeriod   *int64
	Propagation   *metav1.DeletionPropagation
	// Labels, Fields and Limit are options of List.
	Labels labels.Selector
	Fields fields.Selector
	Limit  int64
	// Continue is the token of the previous page of a List. Later pages show the objects as of the first page.
	Continue string
	// Shared allows the server to return objects that it stores. The client must not modify them.
	Shared bool
}

// IsWrite reports whether the request may change objects.
func (r *Request) IsWrite() bool { return r.Verb != Get && r.Verb != List }

// String describes the request, such as "patch status of Job ns/a".
func (r *Request) String() string {
	name := r.Name
	if name == "" && r.Object != nil {
		name = r.Object.GetName()
	}
	if r.Namespace != "" {
		name = r.Namespace + "/" + name
	}
	if r.Subresource != "" {
		return fmt.Sprintf("%s %s of %s %s", r.Verb, r.Subresource, r.Kind.Kind, name)
	}
	return fmt.Sprintf("%s %s %s", r.Verb, r.Kind.Kind, name)
}
