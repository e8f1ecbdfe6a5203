package apiserver

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwners holds the fields of a status that each manager owns.
type fieldOwners map[string]map[string]bool

// apply carries out a server-side apply of a status.
func (s *Server) apply(r *Request, t *table) (runtime.Object, error) {
	return nil, apierrors.NewGenericServerResponse(http.StatusNotImplemented, "patch", t.kind.resource, r.Name, "server-side apply", 0, true)
}

func ownersAfterUpdate(_ *Request, e *entry, _ client.Object) (fieldOwners, bool) {
	return e.owners, false
}
