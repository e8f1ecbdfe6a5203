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

// ErrDead is what every call returns once the process is dead.
var ErrDead = errors.New("the process is dead")

// Server is the API server.
type Server struct {
	client.Client // nil: what is not overridden is not used
	Objects       Store
	History       []Change
	// WritesLeft is how many writes succeed before the process dies; -1: all.
	WritesLeft int
	// LostReply says that the last write before the death is carried out, only nobody hears of it.
	LostReply bool
	// Writes are those that were asked for, as "create Pod web-0", "update …", "patch …", "status of Job job", "delete …".
	Writes []string
	// Reads are the objects and lists that were asked for, as "get Job job", "list PodList".
	Reads []string
	// Refuse are answers to such writes.
	Refuse map[string]error
	// Ills befall the next writes, one each; Ill says that one has.
	Ills []Ill
	Ill  bool
	// Guarded keeps copies of all that is stored from now on, for Touched.
	Guarded bool

	scheme  *runtime.Scheme
	now     func() time.Time
	version int
	uids    int
	kept    []client.Object // of History, copies of what came to be while it was guarded
}

// Change is one entry of the history.
type Change struct {
	Kind        string
	Old, Object client.Object // nil Old: created; nil Object: deleted
}

// New is a server that holds nothing.
func New(scheme *runtime.Scheme, now func() time.Time) *Server {
	return &Server{scheme: scheme, Objects: Store{}, now: now, WritesLeft: -1}
}

// Ill is what may be wrong with an API server for a moment.
type Ill struct {
	Err  error // nil: nothing
	Done bool  // the write is carried out all the same
}

// AllIlls are those that there are, health among them.
var AllIlls = []Ill{
	{}, {},
	{Err: apierrors.NewTooManyRequests("slow down", 1)},
	{Err: apierrors.NewInternalError(errors.New("etcd has no leader"))},
	{Err: apierrors.NewTimeoutError("it took too long", 1)},
	{Err: apierrors.NewTimeoutError("it took too long", 1), Done: true},
	{Err: apierrors.NewConflict(schema.GroupResource{Resource: "objects"}, "one", errors.New("somebody was quicker"))},
}

// befall takes the next ill for a write. Nobody is quicker than a write that does not say what it rests on.
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

// begin counts a write; an error means that it does not happen. done is called after it happened. guarded says that the write rests on a version.
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

// Put stores an object as the API server would, without counting as a write of the process under test. A new one gets a UID and an age unless it has them.
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

// Remove deletes an object at once.
func (s *Server) Remove(o client.Object) {
	if old := s.Objects[KeyOf(o)]; old != nil {
		delete(s.Objects, KeyOf(o))
		s.version++
		s.record(Change{Kind: Kind(o), Old: old})
	}
}

// Doom deletes as the API server does: a pod that runs gets its grace, all else goes at once.
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

// Touched tells of an object that somebody changed who had only read it: caches share what they hold.
func (s *Server) Touched() error {
	for i, kept := range s.kept {
		if kept != nil && !equality.Semantic.DeepEqual(kept, s.History[i].Object) {
			return fmt.Errorf("%s was changed by who had only read it:\nstored %+v\nis now %+v", KeyOf(kept), kept, s.History[i].Object)
		}
	}
	return nil
}
