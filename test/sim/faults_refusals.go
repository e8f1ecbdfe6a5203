package sim

import (
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/test/apiserver"
)

// refusal lets the API server reject all requests of one kind for a while, as a policy webhook, a quota or a missing
// permission does.
type refusal struct {
	kind *requestKind
	job  string // only for objects whose name contains the name of this job; "" means all objects
	code refusalCode
}

// refusalCode is the status with which requests are rejected.
type refusalCode string

const (
	forbidden refusalCode = "403 Forbidden"
	invalid   refusalCode = "422 Invalid"
	conflict  refusalCode = "409 Conflict"
)

func init() {
	registerAction("refusal", 8, func(s *drawing) *action {
		refused := &refusal{kind: drawRequestKind(s), code: []refusalCode{forbidden, invalid, conflict}[s.IntN(3)]}
		if refused.kind.verb == apiserver.Delete || refused.kind.verb == apiserver.List {
			refused.code = forbidden // a conflict would mean that the object has been replaced
		}
		which := "every"
		if len(s.jobs) > 0 && s.IntN(3) == 0 {
			refused.job = s.jobs[s.IntN(len(s.jobs))]
			which = "for " + refused.job + ", every"
		}
		length := between(s.Rand, 5*time.Second, 4*time.Minute)
		return s.action(func(w *World) {
			w.refusals = append(w.refusals, refused)
			w.add(w.now.Add(length), nil, func() {
				w.refusals = slices.DeleteFunc(w.refusals, func(r *refusal) bool { return r == refused })
			})
		}, "for %s, the API server rejects %s %s by the %s with %s", length.Round(time.Second), which, refused.kind.text, refused.kind.program, refused.code)
	})
	for _, code := range []refusalCode{forbidden, invalid, conflict} {
		expectCoverage("refusal with "+string(code), 4)
	}
}

// applies reports whether a request is refused. A deletion has no conflicts, except with its own preconditions.
func (f *refusal) applies(l *link, r *apiserver.Request) bool {
	if f.code == conflict && r.Verb == apiserver.Delete {
		return false
	}
	return f.kind.matches(l, r) && strings.Contains(nameOf(r), f.job)
}

// refuse returns the error with which the API server rejects a request, or nil.
func (w *World) refuse(l *link, r *apiserver.Request) error {
	for _, refused := range w.refusals {
		if !refused.applies(l, r) {
			continue
		}
		w.cover("refusal with "+string(refused.code), stepOf(l, r))
		switch refused.code {
		case forbidden:
			return apierrors.NewForbidden(resourceOf(r), nameOf(r), errors.New("a policy does not permit this request"))
		case invalid:
			return apierrors.NewInvalid(r.Kind.GroupKind(), nameOf(r), field.ErrorList{field.Forbidden(field.NewPath("metadata"), "a policy does not permit this object")})
		default:
			return conflictError(r)
		}
	}
	return nil
}

// conflictError returns the error of a write that another write has overtaken.
func conflictError(r *apiserver.Request) error {
	return apierrors.NewConflict(resourceOf(r), nameOf(r), errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}
