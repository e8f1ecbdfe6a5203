package admission

import (
	"context"
	"fmt"
	"net/http"

	"golang.org/x/sync/semaphore"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Bounds of what reviews need in memory, all together. Webhooks that default are sent objects before any schema has limited them: a Job of 2.7 MB may
// hold 26,000 tasks, and would need fifty times its size.
const (
	// longestReview is the longest body of a review that is read.
	longestReview = 7 << 20
	// shortestReview is what the shortest body counts for.
	shortestReview = 16 << 10
	// reviewBytes is how many bytes of bodies are in memory at once.
	reviewBytes = 8 << 20
	// workBytes is how much memory the objects may need that are worked on at once, by memoryOf.
	workBytes = 64 << 20
	// memoryPerByte and memoryPerObject estimate what an object needs while it is decoded, defaulted, compared and checked.
	memoryPerByte, memoryPerObject = 8, 1536
)

// bounds limit the memory that reviews need together. Reviews wait for each other; one that is too large by itself is not worked on.
type bounds struct{ bodies, work *semaphore.Weighted }

func newBounds() *bounds {
	return &bounds{bodies: semaphore.NewWeighted(reviewBytes), work: semaphore.NewWeighted(workBytes)}
}

// handler bounds the bodies that are read at once.
func (b *bounds) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := max(r.ContentLength, shortestReview)
		if r.ContentLength < 0 || size > longestReview {
			size = longestReview // no more is read
		}
		if b.bodies.Acquire(r.Context(), size) != nil {
			http.Error(w, "too many reviews at once", http.StatusServiceUnavailable)
			return
		}
		defer b.bodies.Release(size)
		next.ServeHTTP(w, r)
	})
}

// limit bounds the objects that a webhook works on at once. One that is too large is passed over by a webhook that defaults: the schema judges it
// next, and what defaults it lacks the controllers fill in.
func (b *bounds) limit(handle admission.HandlerFunc, defaults bool) admission.HandlerFunc {
	return func(ctx context.Context, request admission.Request) admission.Response {
		need := memoryOf(request.Object.Raw) + memoryOf(request.OldObject.Raw)
		switch {
		case need > workBytes && defaults:
			return admission.Allowed("")
		case need > workBytes:
			return tooLarge(&request)
		case b.work.Acquire(ctx, need) != nil:
			return admission.Errored(http.StatusServiceUnavailable, fmt.Errorf("too many reviews at once: %w", ctx.Err()))
		}
		defer b.work.Release(need)
		return handle(ctx, request)
	}
}

// tooLarge rejects an object that nobody could check within the bounds.
func tooLarge(request *admission.Request) admission.Response {
	raw := request.Object.Raw
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusRequestEntityTooLarge, Reason: metav1.StatusReasonRequestEntityTooLarge,
		Message: fmt.Sprintf("the object is too large to be checked: %d bytes with %d JSON objects in it; use fewer tasks, containers or variables, or several objects",
			len(raw), countObjects(raw)),
	}}}
}

// memoryOf estimates how many bytes of memory an object of this JSON needs while a webhook works on it.
func memoryOf(raw []byte) int64 {
	return int64(len(raw))*memoryPerByte + int64(countObjects(raw))*memoryPerObject
}

// countObjects counts the JSON objects in a text.
func countObjects(raw []byte) int {
	count, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++ // what it escapes is part of the string
		case c == '"':
			inString = !inString
		case c == '{' && !inString:
			count++
		}
	}
	return count
}
