package sim

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/vc-batch/vc/internal/daemon/leaderfence"
	"github.com/vc-batch/vc/test/apiserver"
)

// weather is the condition of the network between one program and the API server. The zero value is a network without
// faults. The shares are probabilities between 0 and 1 for each request.
type weather struct {
	cut           bool          // no connection
	slow          time.Duration // additional delay of requests and responses, at most
	loseRequests  float64       // the request does not arrive; the client waits until its timeout
	loseResponses float64       // the request is carried out, and the client waits until its timeout
	late          float64       // the client waits until its timeout, and the request is carried out after that
	errors        float64       // the API server responds with 409, 429, 500, 503 or a timeout
}

// link connects a process to the API server.
type link struct {
	process *process
	user    string
	random  *rand.Rand
	timeout time.Duration // how long the client waits for a response
	// fence is called before each write leaves the process. It may be nil.
	fence func() error
}

func (w *World) newLink(p *process, user string, timeout time.Duration, fence func() error) *link {
	return &link{process: p, user: user, random: w.randomFor("link of " + user), timeout: timeout, fence: fence}
}

// Delays of a request and of its response on a healthy network.
const (
	shortestTrip = 200 * time.Microsecond
	longestTrip  = 8 * time.Millisecond
)

// send sends a request and waits for the response. It must be called from a fiber of the link's process.
func (l *link) send(_ context.Context, r *apiserver.Request) (object runtime.Object, err error) {
	w := l.process.world
	if l.fence != nil {
		if err := leaderfence.CheckMethod(methodOf(r), l.fence); err != nil {
			return nil, err
		}
	}
	l.strikeBefore(r)
	r.User = l.user
	w.checkSender(l, r)
	condition := *w.weatherOf(l.process) // after the failpoint, which may cut the connection
	there := between(l.random, shortestTrip, longestTrip+condition.slow)
	back := between(l.random, shortestTrip, longestTrip+condition.slow)
	fate := l.drawFate(&condition, r)
	l.coverFaults(&condition, fate, r)
	w.wait(func(resume func()) {
		respond := func(pause time.Duration, o runtime.Object, e error) {
			l.process.after(pause, func() {
				object, err = o, e
				w.trace("%s: %s: %s", l.user, r, describeError(e))
				w.checkRejection(l, r, e)
				w.checks.recordFailedRequest(l, r, e)
				resume()
			})
		}
		switch {
		case condition.cut || w.serverDown:
			respond(there, nil, connectionRefused(r))
		case fate == lostRequest:
			respond(l.timeout, nil, timedOut(r))
		case fate == lateRequest:
			respond(l.timeout, nil, timedOut(r))
			w.arrive(l.timeout+between(l.random, shortestTrip, longestLateness), r, func() {
				if w.serverDown {
					return
				}
				w.checks.carryOutLate(r, func() error {
					_, err := l.carryOut(r)
					return err
				})
			})
		case fate == rejected:
			respond(there+back, nil, l.drawError(r))
		default:
			sent := w.now
			w.arrive(there, r, func() {
				if w.serverDown {
					respond(back, nil, connectionRefused(r))
					return
				}
				o, e := l.carryOut(r)
				l.strikeAfter(r)
				took := w.now.Sub(sent)
				switch {
				case w.weatherOf(l.process).cut && !condition.cut:
					respond(back, nil, connectionReset(r))
				case fate == lostResponse:
					respond(max(0, l.timeout-took), nil, timedOut(r))
				case fate == timedOutAfterwards && e == nil:
					respond(back, nil, apierrors.NewTimeoutError("request did not complete within the allotted timeout", 0))
				case took+back > l.timeout:
					respond(max(0, l.timeout-took), nil, timedOut(r))
				default:
					respond(back, o, e)
				}
			})
		}
	})
	return object, err
}

// arrive carries out a request after its way to the API server. The request may wait if it calls webhooks.
func (w *World) arrive(pause time.Duration, r *apiserver.Request, carryOut func()) {
	w.outside.after(pause, func() {
		if w.server.CallsWebhooks(r) {
			w.outside.spawn(carryOut, nil)
		} else {
			carryOut()
		}
	})
}

// carryOut carries out a request at the API server, unless it is refused.
func (l *link) carryOut(r *apiserver.Request) (runtime.Object, error) {
	if err := l.process.world.refuse(l, r); err != nil {
		return nil, err
	}
	if l.process.world.storageFull && r.IsWrite() {
		l.process.world.cover("full etcd", stepOf(l, r))
	}
	return l.process.world.do(r)
}

// methodOf returns the HTTP method of a request.
func methodOf(r *apiserver.Request) string {
	switch r.Verb {
	case apiserver.Create:
		return http.MethodPost
	case apiserver.Update:
		return http.MethodPut
	case apiserver.Patch:
		return http.MethodPatch
	case apiserver.Delete:
		return http.MethodDelete
	default:
		return http.MethodGet
	}
}

// fate is the outcome of one request.
type fate int

const (
	delivered fate = iota
	lostRequest
	lostResponse
	lateRequest        // the API server carries out the request after the client has stopped waiting
	rejected           // the API server returns an error and does not carry out the request
	timedOutAfterwards // the API server carries out the request and returns a timeout
)

// coverFaults records the faults that affect a request.
func (l *link) coverFaults(c *weather, outcome fate, r *apiserver.Request) {
	w := l.process.world
	switch {
	case w.serverDown:
		w.cover("API server down", stepOf(l, r))
	case c.cut:
		w.cover("no connection", stepOf(l, r))
	case c.slow > 0:
		w.cover("slow network", stepOf(l, r))
	case outcome != delivered:
		w.cover(outcome.String(), stepOf(l, r))
	}
}

func (f fate) String() string {
	return [...]string{"delivered", "lost request", "lost response", "late request", "random error", "timeout although carried out"}[f]
}

func (l *link) drawFate(c *weather, r *apiserver.Request) fate {
	draw := l.random.Float64()
	for _, possible := range []struct {
		share float64
		fate  fate
	}{{c.loseRequests, lostRequest}, {c.loseResponses, lostResponse}, {c.late, lateRequest}, {c.errors, rejected}} {
		if draw < possible.share {
			if possible.fate == rejected && r.IsWrite() && l.random.IntN(4) == 0 {
				return timedOutAfterwards
			}
			return possible.fate
		}
		draw -= possible.share
	}
	return delivered
}

// drawError returns an error with which an API server under load, or behind a failing etcd, rejects a request.
func (l *link) drawError(r *apiserver.Request) error {
	switch l.random.IntN(6) {
	case 0:
		if r.IsWrite() && r.Verb != apiserver.Delete {
			return conflictError(r)
		}
		return apierrors.NewServiceUnavailable("apiserver is shutting down")
	case 1:
		return apierrors.NewTooManyRequests("too many requests, please try again later", 1)
	case 2:
		return apierrors.NewInternalError(errors.New("etcdserver: leader changed"))
	case 3:
		return apierrors.NewServerTimeout(resourceOf(r), string(r.Verb), 1)
	case 4:
		return apierrors.NewServiceUnavailable("apiserver is shutting down")
	default:
		return apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
	}
}

func resourceOf(r *apiserver.Request) schema.GroupResource {
	return schema.GroupResource{Group: r.Kind.Group, Resource: r.Kind.Kind}
}

func connectionRefused(r *apiserver.Request) error {
	return &url.Error{Op: string(r.Verb), URL: r.Name, Err: syscall.ECONNREFUSED}
}

// connectionReset returns the error of a request whose connection was lost before its response arrived.
func connectionReset(r *apiserver.Request) error {
	return &url.Error{Op: string(r.Verb), URL: r.Name, Err: syscall.ECONNRESET}
}

func timedOut(r *apiserver.Request) error {
	return &url.Error{Op: string(r.Verb), URL: r.Name, Err: context.DeadlineExceeded}
}

// nameOf returns the name of the object of a request.
func nameOf(r *apiserver.Request) string {
	if r.Name == "" && r.Object != nil {
		return r.Object.GetName()
	}
	return r.Name
}

// describeObject returns the kind, namespace and name of an object.
func describeObject(kind schema.GroupVersionKind, namespace, name string) string {
	return kind.Kind + " " + namespace + "/" + name
}

func describeError(err error) string {
	if err == nil {
		return "ok"
	}
	return err.Error()
}

func storageFullError() error {
	return apierrors.NewInternalError(errors.New("etcdserver: mvcc: database space exceeded"))
}
