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

// Limits on the memory for all reviews together. They are necessary because defaulting webhooks receive objects before
// the schema limits the objects. For example, a Job of 2.7 MB may have 26,000 tasks and would need fifty times its size
// in memory.
const (
	// longestReview is the maximum size of a review's body.
	longestReview = 7 << 20
	// shortestReview is the minimum size with which a body is counted.
	shortestReview = 16 << 10
	// reviewBytes is the maximum size of all bodies in memory.
	reviewBytes = 8 << 20
	// workBytes is the maximum memory for the objects being processed, as estimated by estimateMemory.
	workBytes = 64 << 20
	// memoryPerByte and memoryPerObject estimate the memory that an object needs while it is decoded, defaulted,
	// compared and checked.
	memoryPerByte, memoryPerObject = 8, 1536
)

// bounds limits the memory of all reviews. Reviews wait for memory that other reviews are using. A review that exceeds
// the limit by itself is not processed.
type bounds struct{ bodies, work *semaphore.Weighted }

func newBounds() *bounds {
	return &bounds{bodies: semaphore.NewWeighted(reviewBytes), work: semaphore.NewWeighted(workBytes)}
}

// limitBodies limits the total size of the bodies in memory.
func (b *bounds) limitBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := max(r.ContentLength, shortestReview)
		if r.ContentLength < 0 || size > longestReview {
			size = longestReview // no more than this is read
		}
		if b.bodies.Acquire(r.Context(), size) != nil {
			http.Error(w, "too many concurrent reviews", http.StatusServiceUnavailable)
			return
		}
		defer b.bodies.Release(size)
		next.ServeHTTP(w, r)
	})
}

// limitObjects limits the memory of the objects that webhooks process. A defaulting webhook allows an object that is
// too large, because the schema checks it next, and the controllers fill in missing defaults.
func (b *bounds) limitObjects(handle admission.HandlerFunc, defaults bool) admission.HandlerFunc {
	return func(ctx context.Context, request admission.Request) admission.Response {
		need := estimateMemory(request.Object.Raw) + estimateMemory(request.OldObject.Raw)
		switch {
		case need > workBytes && defaults:
			return admission.Allowed("")
		case need > workBytes:
			return rejectTooLarge(&request)
		case b.work.Acquire(ctx, need) != nil:
			return admission.Errored(http.StatusServiceUnavailable, fmt.Errorf("too many concurrent reviews: %w", ctx.Err()))
		}
		defer b.work.Release(need)
		return handle(ctx, request)
	}
}

// rejectTooLarge rejects an object that cannot be checked within the limits.
func rejectTooLarge(request *admission.Request) admission.Response {
	raw := request.Object.Raw
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusRequestEntityTooLarge, Reason: metav1.StatusReasonRequestEntityTooLarge,
		Message: fmt.Sprintf("the object is too large to be checked: it has %d bytes and %d nested JSON objects; use fewer tasks, containers or variables, or split it into several objects",
			len(raw), countObjects(raw)),
	}}}
}

// estimateMemory estimates the memory in bytes that an object needs while a webhook processes it.
func estimateMemory(raw []byte) int64 {
	return int64(len(raw))*memoryPerByte + int64(countObjects(raw))*memoryPerObject
}

// countObjects counts the JSON objects in raw.
func countObjects(raw []byte) int {
	count, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++ // skip the escaped character
		case c == '"':
			inString = !inString
		case c == '{' && !inString:
			count++
		}
	}
	return count
}
