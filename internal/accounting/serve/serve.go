package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/wire"
	"github.com/vc-batch/vc/internal/aggregatedapi"
)

// Group is the API group of the accounting database.
var Group = aggregatedapi.Group{
	Name: wire.GroupName, Version: wire.Version, ServiceName: "vc-accounting", SecretName: "vc-accounting-certificate", Manager: "vcd",
}

// patience is how long a client may take to read one part of a stream.
const patience = 30 * time.Second

// Coordinated returns the accounts whose records a user may read because the user coordinates them.
type Coordinated func(user string) []string

// OpenStore returns the open database, or an error with the reason why it is not open. isUpToDate reports whether the
// database contains the records of all jobs that are gone.
type OpenStore func(context.Context) (store accounting.Store, isUpToDate bool, err error)

// notUpToDate is the warning in responses of a database that is not up to date.
const notUpToDate = "the accounting database is behind: jobs that ended or were deleted in the last moments may be missing"

// Run serves the database until ctx is done.
func Run(ctx context.Context, config *rest.Config, o aggregatedapi.Options, coordinated Coordinated, store OpenStore) error {
	return aggregatedapi.Run(ctx, config, Group, o, func(authn authenticator.Request, permissions *aggregatedapi.Permissions, log logr.Logger) http.Handler {
		return newHandler(authn, permissions, coordinated, store, log)
	})
}

// permissions reports whether users may access resources.
type permissions interface {
	IsAllowed(ctx context.Context, who user.Info, access authorizationv1.ResourceAttributes) (bool, error)
}

type handler struct {
	authn       authenticator.Request
	permissions permissions
	coordinated Coordinated
	store       OpenStore
	log         logr.Logger
	// nodeReads has an element while the changes of nodes are in memory. All users may read the capacity and the events of
	// nodes, and the changes of some years need much memory, so requests read them one after the other.
	nodeReads chan struct{}
}

func newHandler(authn authenticator.Request, allowed permissions, coordinated Coordinated, store OpenStore, log logr.Logger) http.Handler {
	h := &handler{authn, allowed, coordinated, store, log, make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+wire.Root, serveDiscovery)
	mux.HandleFunc("GET "+wire.RecordsPath, h.authenticated(h.serveRecords))
	mux.HandleFunc("GET "+wire.UsagePath, h.authenticated(h.serveUsage))
	mux.HandleFunc("GET "+wire.CapacityPath, h.authenticated(h.serveCapacity))
	mux.HandleFunc("GET "+wire.TransactionsPath, h.authenticated(h.serveChanges))
	mux.HandleFunc("GET "+wire.EventsPath, h.authenticated(h.serveEvents))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeStatus(w, http.StatusNotFound, metav1.StatusReasonNotFound, r.URL.Path+" was not found on this server")
	})
	return mux
}

// serveDiscovery lists the resources of the group. It works without the database, because the deletion of a namespace
// calls the discovery of every group.
func serveDiscovery(w http.ResponseWriter, _ *http.Request) {
	list := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: wire.GroupName + "/" + wire.Version,
		APIResources: []metav1.APIResource{
			{Name: wire.RecordsResource, SingularName: "record", Kind: "Record", Verbs: metav1.Verbs{"list"}},
			{Name: wire.UsageResource, SingularName: "usage", Kind: "Usage", Verbs: metav1.Verbs{"list"}},
			{Name: wire.CapacityResource, SingularName: "capacity", Kind: "Capacity", Verbs: metav1.Verbs{"list"}},
			{Name: wire.TransactionsResource, SingularName: "transaction", Kind: "Transaction", Verbs: metav1.Verbs{"list"}},
			{Name: wire.EventsResource, SingularName: "nodeevent", Kind: "NodeEvent", Verbs: metav1.Verbs{"list"}},
		},
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list) // an error means that the client has disconnected
}

// authenticated calls next with the user that the API server has authenticated, and with the open database.
func (h *handler) authenticated(next func(http.ResponseWriter, *http.Request, user.Info, accounting.Store)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, ok, err := h.authn.AuthenticateRequest(r)
		if err != nil || !ok {
			h.log.V(1).Info("Request did not come from the API server", "from", r.RemoteAddr, "reason", err)
			writeStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "unauthenticated: only requests through the API server are accepted")
			return
		}
		store, isUpToDate, err := h.store(r.Context())
		if err != nil {
			writeStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
			return
		}
		if !isUpToDate {
			if warning, err := net.NewWarningHeader(299, "-", notUpToDate); err == nil {
				w.Header().Set("Warning", warning)
			}
		}
		next(w, r, who.User, store)
	}
}

// visibleTo returns which records a user may see: their own, and those of the accounts that they coordinate. It returns nil
// if the user may list the resource with the records of all users.
func (h *handler) visibleTo(ctx context.Context, who user.Info, resource string) (*accounting.Visibility, error) {
	mayListAll, err := h.permissions.IsAllowed(ctx, who, authorizationv1.ResourceAttributes{Verb: "list", Group: wire.GroupName, Version: wire.Version, Resource: resource})
	if err != nil {
		return nil, fmt.Errorf("permission to list %s: %w", resource, err)
	}
	if mayListAll {
		return nil, nil
	}
	return &accounting.Visibility{User: who.GetName(), Accounts: h.coordinated(who.GetName())}, nil
}

func (h *handler) serveRecords(w http.ResponseWriter, r *http.Request, who user.Info, store accounting.Store) {
	var query accounting.Query
	if err := wire.DecodeQuery(r.URL.Query(), &query); err != nil {
		writeStatus(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	visibility, err := h.visibleTo(r.Context(), who, wire.AllRecordsResource)
	if err != nil {
		writeStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
		return
	}
	stream := h.newStream(w)
	query.VisibleTo = visibility
	for record, err := range store.Records(r.Context(), query) {
		if err == nil {
			err = stream.WriteRecord(record)
		}
		if err != nil {
			h.abort(w, stream, err)
			return
		}
	}
	h.end(stream)
}

func (h *handler) serveUsage(w http.ResponseWriter, r *http.Request, who user.Info, store accounting.Store) {
	var query accounting.UsageQuery
	if err := wire.DecodeQuery(r.URL.Query(), &query); err != nil {
		writeStatus(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	visibility, err := h.visibleTo(r.Context(), who, wire.AllUsageResource)
	if err != nil {
		writeStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
		return
	}
	query.VisibleTo = visibility
	all, err := store.Usage(r.Context(), query)
	if err != nil {
		writeStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
		return
	}
	stream := h.newStream(w)
	for i := range all {
		if err := stream.WriteUsage(&all[i]); err != nil {
			h.abort(w, stream, err)
			return
		}
	}
	h.end(stream)
}

// serveCapacity sends the capacity of the nodes, which all users may read.
func (h *handler) serveCapacity(w http.ResponseWriter, r *http.Request, _ user.Info, store accounting.Store) {
	var query accounting.CapacityQuery
	if err := wire.DecodeQuery(r.URL.Query(), &query); err != nil {
		writeStatus(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	if now := time.Now(); query.To.IsZero() || query.To.After(now) {
		query.To = now // the future capacity is unknown
	}
	sums, err := h.sumCapacity(r.Context(), store, query)
	if err != nil {
		writeStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
		return
	}
	stream := h.newStream(w)
	for _, sum := range sums {
		if err := stream.WriteCapacity(&sum); err != nil {
			h.abort(w, stream, err)
			return
		}
	}
	h.end(stream)
}

// sumCapacity reads the changes of the nodes and sums up their capacity.
func (h *handler) sumCapacity(ctx context.Context, store accounting.Store, query accounting.CapacityQuery) (sums []accounting.Capacity, err error) {
	err = h.withNodeChanges(ctx, store, query.Clusters, query.From, query.To, func(changes []accounting.NodeChange) {
		sums = accounting.SumCapacity(changes, query)
	})
	return sums, err
}

// withNodeChanges reads the changes of the nodes of clusters, and calls process with them. Only one request at a time may do
// this, because the changes can need much memory.
func (h *handler) withNodeChanges(ctx context.Context, store accounting.Store, clusters []string, from, to time.Time, process func([]accounting.NodeChange)) error {
	select {
	case h.nodeReads <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-h.nodeReads }()
	changes, err := store.NodeChanges(ctx, clusters, from, to)
	if err == nil {
		process(changes)
	}
	return err
}

// serveEvents sends the events of the nodes, which all users may read. The changes of a year before the query show when
// an event began.
func (h *handler) serveEvents(w http.ResponseWriter, r *http.Request, _ user.Info, store accounting.Store) {
	var query accounting.NodeEventQuery
	if err := wire.DecodeQuery(r.URL.Query(), &query); err != nil {
		writeStatus(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	from := query.From
	if !from.IsZero() {
		from = from.AddDate(-1, 0, 0)
	}
	var events []accounting.NodeEvent
	err := h.withNodeChanges(r.Context(), store, query.Clusters, from, time.Time{}, func(changes []accounting.NodeChange) {
		events = accounting.NodeEvents(changes, query)
	})
	if err != nil {
		writeStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
		return
	}
	stream := h.newStream(w)
	for i := range events {
		if err := stream.WriteEvent(&events[i]); err != nil {
			h.abort(w, stream, err)
			return
		}
	}
	h.end(stream)
}

// serveChanges lists the changes of accounts and QOS: all of them for administrators, and of the coordinated accounts and
// the accounts below them for coordinators.
func (h *handler) serveChanges(w http.ResponseWriter, r *http.Request, who user.Info, store accounting.Store) {
	var query accounting.ChangeQuery
	if err := wire.DecodeQuery(r.URL.Query(), &query); err != nil {
		writeStatus(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	visibility, err := h.visibleTo(r.Context(), who, wire.AllRecordsResource)
	if err != nil {
		writeStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
		return
	}
	if visibility != nil {
		if query.VisibleAccounts = visibility.Accounts; len(visibility.Accounts) == 0 {
			writeStatus(w, http.StatusForbidden, metav1.StatusReasonForbidden, fmt.Sprintf(
				"user %q cannot list the changes of accounts: only coordinators of an account and users with the ClusterRole vc-accounting-admin can", who.GetName()))
			return
		}
	}
	all, err := store.Changes(r.Context(), query)
	if err != nil {
		writeStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
		return
	}
	stream := h.newStream(w)
	for i := range all {
		if err := stream.WriteChange(&all[i]); err != nil {
			h.abort(w, stream, err)
			return
		}
	}
	h.end(stream)
}

// stream writes lines to a client.
type stream struct {
	*wire.Writer
	begun bool
	to    http.ResponseWriter
}

func (h *handler) newStream(w http.ResponseWriter) *stream {
	s := &stream{to: w}
	s.Writer = wire.NewWriter(s)
	return s
}

// Write sends a part of the stream. The deadline prevents a slow client from keeping a query open forever.
func (s *stream) Write(text []byte) (int, error) {
	if !s.begun {
		s.begun = true
		s.to.Header().Set("Content-Type", wire.ContentType)
	}
	_ = http.NewResponseController(s.to).SetWriteDeadline(time.Now().Add(patience)) // not every writer supports deadlines
	return s.to.Write(text)
}

// abort reports an error: as a status if nothing was sent, and by cutting off the stream otherwise.
func (h *handler) abort(w http.ResponseWriter, s *stream, err error) {
	if !s.begun {
		writeStatus(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, err.Error())
		return
	}
	h.log.Info("A list of accounting records was cut off", "reason", err.Error())
	panic(http.ErrAbortHandler)
}

func (h *handler) end(s *stream) {
	if err := s.WriteEnd(); err != nil {
		h.log.V(1).Info("A client did not read to the end", "reason", err.Error())
	}
}

func writeStatus(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message})
}
