package joblist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/vc-batch/vc/internal/joblist/jobsummary"
)

// slowest is how long a client may take to read one part of a list.
const slowest = 30 * time.Second

// comeAgain is the number of seconds in Retry-After. Some of the lists in progress will have ended by then. squeue does
// not wait for this time.
const comeAgain = "1"

// handler serves requests from the API server's aggregator.
type handler struct {
	who    authenticator.Request
	rights interface {
		missing(ctx context.Context, who user.Info, q jobsummary.Query) (*resource, error)
	}
	source interface {
		list(ctx context.Context, q jobsummary.Query, to io.Writer) error
	}
	log   logr.Logger
	seats seats
}

// newRequestMux returns the handler for the paths of the API group: discovery and lists.
func (h *handler) newRequestMux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+jobsummary.Root, h.serveDiscovery)
	mux.HandleFunc("GET "+jobsummary.ListPathFor("{namespace}"), h.serveListRequest)
	mux.HandleFunc("GET "+jobsummary.ListPathFor(""), h.serveListRequest)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeErrorStatus(w, http.StatusNotFound, metav1.StatusReasonNotFound, r.URL.Path+" was not found on this server")
	})
	return mux
}

// serveDiscovery lists the resources of the API group. As for other groups, it requires no permissions. It works even
// while there is no cache, because the deletion of a namespace calls the discovery of every group.
func (h *handler) serveDiscovery(w http.ResponseWriter, _ *http.Request) {
	list := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: jobsummary.GroupName + "/" + jobsummary.Version,
		APIResources: []metav1.APIResource{{Name: jobsummary.Resource, SingularName: "jobfact", Namespaced: true, Kind: "JobFact", Verbs: metav1.Verbs{"list"}}},
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // an error means that the client has disconnected
}

// serveListRequest handles a list request.
func (h *handler) serveListRequest(w http.ResponseWriter, r *http.Request) {
	who, ok, err := h.who.AuthenticateRequest(r)
	if err != nil || !ok {
		h.log.V(1).Info("Request did not come from the API server", "from", r.RemoteAddr, "reason", err)
		// Status 401 would make the user's credential plugin log in again, although the only problem is that the API
		// server's authority is not loaded yet.
		writeErrorStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "unauthenticated: only requests through the API server are accepted")
		return
	}
	if !strings.Contains(r.Header.Get("Accept"), jobsummary.ContentType) {
		writeErrorStatus(w, http.StatusNotAcceptable, metav1.StatusReasonNotAcceptable, "this list is available only to squeue, sacct and scancel, and only in the format "+jobsummary.ContentType+"; other clients must list the jobs in API group batch.volcano.sh")
		return
	}
	q := jobsummary.Query{Namespace: r.PathValue("namespace"), Pods: r.URL.Query().Get(jobsummary.Pods) != "", Ended: r.URL.Query().Get(jobsummary.Pods) == jobsummary.PodsAll}
	q.Arrays = r.URL.Query().Has(jobsummary.Arrays)
	switch lacking, err := h.rights.missing(r.Context(), who.User, q); {
	case err != nil:
		h.respondUnavailable(w, err)
		return
	case lacking != nil:
		err := apierrors.NewForbidden(schema.GroupResource{Group: lacking.group, Resource: lacking.name}, "", fmt.Errorf("%s is not allowed to list jobs", who.User.GetName()))
		writeErrorStatus(w, http.StatusForbidden, metav1.StatusReasonForbidden, err.Error())
		return
	}
	leave, ok := h.seats.reserveSeat(who.User.GetName())
	if !ok {
		w.Header().Set("Retry-After", comeAgain)
		writeErrorStatus(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "too many concurrent list requests: try again, or list the jobs in API group batch.volcano.sh")
		return
	}
	defer leave()
	to := &begun{ResponseWriter: w}
	switch err := h.source.list(r.Context(), q, to); {
	case err != nil && to.begun:
		h.log.Info("A list of jobs was truncated", "reason", err.Error())
		panic(http.ErrAbortHandler)
	case err != nil:
		h.respondUnavailable(w, err)
	}
}

// begun wraps a ResponseWriter and records whether any part of the list was written.
type begun struct {
	http.ResponseWriter
	begun bool
}

func (b *begun) Write(text []byte) (int, error) {
	if !b.begun {
		b.Header().Set("Content-Type", jobsummary.ContentType)
	}
	b.begun = true
	// The deadline prevents a slow client from keeping a list in memory forever. The error is ignored, because not
	// every writer supports deadlines.
	_ = http.NewResponseController(b.ResponseWriter).SetWriteDeadline(time.Now().Add(slowest))
	n, err := b.ResponseWriter.Write(text)
	if flusher, ok := b.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
	return n, err
}

// respondUnavailable responds with an error that makes the client list from the API server itself.
func (h *handler) respondUnavailable(w http.ResponseWriter, err error) {
	if !errors.Is(err, errNoCache) {
		h.log.Info("Could not serve a list of jobs from memory", "reason", err.Error())
	}
	writeErrorStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
}

func writeErrorStatus(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message})
}
