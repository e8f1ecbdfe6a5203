package fakeapi

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrDead is the error of every call after the client has died.
var ErrDead = errors.New("the process is dead")

// Server is a fake API server, and a client of itself.
type Server struct {
	client.Client // nil: methods that are not overridden are not used
	Objects       Store
	History       []Change
	// WritesLeft is the number of writes that succeed before the client dies; -1 means no limit.
	WritesLeft int
	// LostReply makes the last write before the death take effect, although its response is lost.
	LostReply bool
	// Writes lists the requested writes, such as "create Pod web-0", "update …", "patch …", "status of Job job",
	// "delete …".
	Writes []string
	// Reads lists the requested reads, such as "get Job job" and "list PodList".
	Reads []string
	// Refuse maps writes, named as in Writes, to the errors that they get.
	Refuse map[string]error
	// Ills holds a fault for each of the next writes. Ill reports that one of them has occurred.
	Ills []Ill
	Ill  bool
	// Guarded makes the server keep copies of all objects stored from now on, for Touched.
	Guarded bool

	scheme  *runtime.Scheme
	now     func() time.Time
	version int
	uids    int
	kept    []client.Object // copies of the objects in History, stored while Guarded was set
}

// Change is one entry of the history.
type Change struct {
	Kind        string
	Old, Object client.Object // nil Old: created; nil Object: deleted
}

// New returns a server without objects.
func New(scheme *runtime.Scheme, now func() time.Time) *Server {
	return &Server{scheme: scheme, Objects: Store{}, now: now, WritesLeft: -1}
}

// Ill is a temporary fault of an API server.
type Ill struct {
	Err  error // nil: no fault
	Done bool  // the write takes effect in spite of the error
}

// AllIlls are the possible faults. Some of them are no fault at all.
var AllIlls = []Ill{
	{}, {},
	{Err: apierrors.NewTooManyRequests("slow down", 1)},
	{Err: apierrors.NewInternalError(errors.New("etcd has no leader"))},
	{Err: apierrors.NewTimeoutError("it took too long", 1)},
	{Err: apierrors.NewTimeoutError("it took too long", 1), Done: true},
	{Err: apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, "one", errors.New("somebody was quicker"))},
}

// befall returns the fault of the next write. A conflict occurs only for a guarded write, which contains a resource
// version.
func (s *Server) befall(guarded bool) Ill {
	if len(s.Ills) == 0 {
		return Ill{}
	}
	next := s.Ills[0]
	s.Ills = s.Ills[1:]
	if apierrors.IsConflict(next.Err) && !guarded {
		return Ill{}
	}
	s.Ill = s.Ill || next.Err != nil
	return next
}

// begin records a write. An error means that the write must not take effect. The caller calls done after the write.
// guarded reports that the write contains a resource version.
func (s *Server) begin(what string, o client.Object, guarded bool) (done func() error, err error) {
	what += " " + Kind(o) + " " + o.GetName()
	s.Writes = append(s.Writes, what)
	if err := s.Refuse[what]; err != nil {
		return nil, err
	}
	ill := s.befall(guarded)
	switch {
	case ill.Err != nil && !ill.Done:
		return nil, ill.Err
	case s.WritesLeft < 0:
		return func() error { return ill.Err }, nil
	case s.WritesLeft == 0:
		return nil, ErrDead
	}
	s.WritesLeft--
	return func() error {
		if s.WritesLeft == 0 && s.LostReply {
			return ErrDead
		}
		return nil
	}, nil
}

// Put stores an object as the API server does, but does not record it as a write of the client. A new object gets a UID
// and a creation time unless it has them.
func (s *Server) Put(o client.Object) client.Object {
	old := s.Objects[KeyOf(o)]
	stored := o.DeepCopyObject().(client.Object)
	s.version++
	stored.SetResourceVersion(strconv.Itoa(s.version))
	if old == nil {
		s.uids++
		if stored.GetUID() == "" {
			stored.SetUID(types.UID(fmt.Sprintf("uid-%d", s.uids)))
		}
		if since := stored.GetCreationTimestamp(); since.IsZero() {
			stored.SetCreationTimestamp(metav1.NewTime(s.now()))
		}
		stored.SetGeneration(1)
	}
	s.Objects[KeyOf(stored)] = stored
	s.record(Change{Kind: Kind(o), Old: old, Object: stored})
	return stored
}

// Remove deletes an object immediately.
func (s *Server) Remove(o client.Object) {
	if old := s.Objects[KeyOf(o)]; old != nil {
		delete(s.Objects, KeyOf(o))
		s.version++
		s.record(Change{Kind: Kind(o), Old: old})
	}
}

// Doom deletes an object as the API server does: a running pod gets its grace period, other objects are deleted
// immediately.
func (s *Server) Doom(there client.Object) {
	pod, isPod := there.(*corev1.Pod)
	if !isPod || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodPending {
		s.Remove(there)
		return
	}
	if pod.DeletionTimestamp != nil {
		return
	}
	update := pod.DeepCopy()
	grace := int64(30)
	at := metav1.NewTime(s.now().Add(30 * time.Second))
	update.DeletionTimestamp, update.DeletionGracePeriodSeconds = &at, &grace
	s.Put(update)
}

func (s *Server) record(c Change) {
	s.History = append(s.History, c)
	var kept client.Object
	if s.Guarded && c.Object != nil {
		kept = c.Object.DeepCopyObject().(client.Object)
	}
	s.kept = append(s.kept, kept)
}

// Touched returns an error if the client modified an object that it had only read. That is forbidden because caches
// share their objects.
func (s *Server) Touched() error {
	for i, kept := range s.kept {
		if kept != nil && !equality.Semantic.DeepEqual(kept, s.History[i].Object) {
			return fmt.Errorf("%s was changed by who had only read it:\nstored %+v\nis now %+v", KeyOf(kept), kept, s.History[i].Object)
		}
	}
	return nil
}
