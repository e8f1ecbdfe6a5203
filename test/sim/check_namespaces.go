package sim

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/vc-batch/vc/test/apiserver"
)

// mostRefusedCreates is the number of attempts within refusedCreateWindow to create the same object in a terminating
// namespace.
const (
	mostRefusedCreates  = 20
	refusedCreateWindow = 10 * time.Second
)

// checkRefusedCreate checks that no program repeats a create again and again in a namespace that is being deleted or does
// not exist.
func (w *World) checkRefusedCreate(l *link, r *apiserver.Request, err error) {
	isTerminating := apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	isMissing := r.Verb == apiserver.Create && r.Subresource == "" && apierrors.IsNotFound(err)
	if !isTerminating && !isMissing {
		return
	}
	w.cover("deleted namespace", "a create is refused: "+stepOf(l, r))
	key := fmt.Sprintf("%s by %s", r, l.process.name)
	var recent []time.Time
	for _, at := range w.checks.refusedCreates[key] {
		if w.now.Sub(at) < refusedCreateWindow {
			recent = append(recent, at)
		}
	}
	w.checks.refusedCreates[key] = append(recent, w.now)
	if len(recent) >= mostRefusedCreates {
		w.fail("%s was sent %d times in %s, although the namespace is being deleted: %v", key, len(recent)+1, refusedCreateWindow, err)
	}
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
	for key, times := range w.checks.refusedCreates {
		if last := times[len(times)-1]; w.now.Sub(last) < time.Minute {
			w.fail("%s was sent %s ago, although the namespace was deleted", key, w.now.Sub(last))
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
