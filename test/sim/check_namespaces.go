package sim

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/test/apiserver"
)

// mostTerminatingCreates and mostMissingCreates limit how often a program may try, within refusedCreateWindow, to create the
// same object or objects of the same owner. The error reports that a namespace is being deleted. A namespace that does not
// exist may only be unknown to the API server, so creates are repeated with the usual pauses. Attempts less than
// parallelCreates apart count as one, because the requests may have been sent in parallel.
const (
	mostTerminatingCreates = 8
	mostMissingCreates     = 20
	refusedCreateWindow    = 10 * time.Second
	parallelCreates        = 50 * time.Millisecond
)

// checkRefusedCreate checks that no program repeats a create again and again in a namespace that is being deleted or does
// not exist.
func (w *World) checkRefusedCreate(l *link, r *apiserver.Request, err error) {
	isMissing := r.Verb == apiserver.Create && r.Subresource == "" && apierrors.IsNotFound(err)
	most := mostMissingCreates
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		most = mostTerminatingCreates
	case !isMissing:
		return
	}
	w.cover("deleted namespace", "a create is refused: "+stepOf(l, r))
	key := fmt.Sprintf("%s by %s", describeCreate(r), l.process.name)
	var recent []time.Time
	for _, at := range w.checks.refusedCreates[key] {
		if w.now.Sub(at) < refusedCreateWindow {
			recent = append(recent, at)
		}
	}
	if last := len(recent) - 1; last >= 0 && w.now.Sub(recent[last]) < parallelCreates {
		return
	}
	w.checks.refusedCreates[key] = append(recent, w.now)
	if len(recent) >= most {
		w.fail("%s: %d attempts in %s, although the namespace is being deleted: %v", key, len(recent)+1, refusedCreateWindow, err)
	}
}

// describeCreate returns what a create is for: the owner of the object or, if it has none, the object itself.
func describeCreate(r *apiserver.Request) string {
	if r.Object != nil {
		if owner := metav1.GetControllerOf(r.Object); owner != nil {
			return fmt.Sprintf("create %s of %s %s/%s", r.Kind.Kind, owner.Kind, r.Namespace, owner.Name)
		}
	}
	return r.String()
}

// checkNamespaces checks, at rest, that no namespace is being deleted any longer, that no object is left of a deleted
// namespace, and that no program still tries to create objects in one.
func (w *World) checkNamespaces() {
	for _, o := range w.objectsAt(namespaceKind, len(w.changes[namespaceKind])) {
		if o.GetDeletionTimestamp() != nil {
			w.fail("namespace %s is still being deleted: %s", o.GetName(), w.describeContent(o.GetName()))
		}
	}
	for _, kind := range w.server.Kinds() {
		for _, o := range w.objectsAt(kind, len(w.changes[kind])) {
			if o.GetNamespace() != "" && w.namespace(o.GetNamespace()) == nil {
				w.fail("%s %s exists, but its namespace %s was deleted", kind.Kind, o.GetName(), o.GetNamespace())
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.checks.refusedCreates)) {
		times := w.checks.refusedCreates[key]
		if last := times[len(times)-1]; w.now.Sub(last) < time.Minute {
			w.fail("%s: the last attempt was %s ago, although the namespace was deleted", key, w.now.Sub(last))
		}
	}
}

// describeContent lists the objects of a namespace, for failure messages.
func (w *World) describeContent(namespace string) (text string) {
	for _, kind := range w.server.Kinds() {
		for _, o := range w.objectsAt(kind, len(w.changes[kind])) {
			if o.GetNamespace() == namespace {
				text += fmt.Sprintf("%s %s (finalizers %v); ", kind.Kind, o.GetName(), o.GetFinalizers())
			}
		}
	}
	return text
}
