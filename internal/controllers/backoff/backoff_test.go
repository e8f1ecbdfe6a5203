package backoff

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var (
	errQuota = fmt.Errorf("pod j-w-0: %w", apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "j-w-0", errors.New("exceeded quota")))
	errGone  = fmt.Errorf("pods of job j: %w", syscall.ECONNREFUSED)
)

var job = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "j"}}

// tries returns how often a controller reconciles an object within a period if its reconciles fail with these errors,
// the last one repeatedly.
func tries(t *testing.T, within time.Duration, errs ...error) int {
	t.Helper()
	at := 0
	options, r := ControllerOptions(1, reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		err := errs[min(at, len(errs)-1)]
		at++
		return reconcile.Result{}, err
	}))
	for spent := time.Duration(0); spent < within; spent += options.RateLimiter.When(job) {
		if _, err := r.Reconcile(t.Context(), job); err == nil {
			t.Fatal("it does not fail")
		}
	}
	return at
}

func TestWhatIsRefusedIsTriedLessOftenThanWhatIsAway(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	for name, test := range map[string]struct {
		errs        []error
		least, most int
	}{
		"nobody answers":                {[]error{errGone}, 450, 470},
		"the server is ill":             {[]error{apierrors.NewInternalError(errors.New("etcd"))}, 450, 470},
		"a quota":                       {[]error{errQuota}, 120, 140},
		"what the API server forbids":   {[]error{apierrors.NewInvalid(schema.GroupKind{}, "j", nil)}, 120, 140},
		"a quota now and then":          {[]error{errGone, errQuota, errGone, errQuota, errGone}, 450, 475},
		"a refusal at the first answer": {append(make([]error, 0), errGone, errGone, errGone, errGone, errGone, errGone, errGone, errGone, errGone, errGone, errGone, errGone, errQuota), 130, 150},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := tries(t, hour, test.errs...); n < test.least || n > test.most {
				t.Errorf("%d tries an hour, want %d to %d", n, test.least, test.most)
			}
		})
	}
}

// TestANamespaceThatIsBeingDeletedIsNoFailure verifies that the error of a terminating namespace does not count as a
// failure.
func TestANamespaceThatIsBeingDeletedIsNoFailure(t *testing.T) {
	t.Parallel()
	gone := apierrors.NewForbidden(schema.GroupResource{Resource: "podgroups"}, "j", errors.New("because it is being terminated"))
	gone.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	_, r := ControllerOptions(1, reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, fmt.Errorf("podgroup j: %w", gone)
	}))
	result, err := r.Reconcile(t.Context(), job)
	if err != nil || result.RequeueAfter == 0 {
		t.Errorf("it is tried again after %s, error %v", result.RequeueAfter, err)
	}
}

func TestTheFirstTriesAreQuick(t *testing.T) {
	t.Parallel()
	l := newLimiter()
	fails := func(err error, times int) (wait time.Duration) {
		for range times {
			l.recordFailure(job, err)
			wait = l.When(job)
		}
		return wait
	}
	if wait := fails(errGone, 30); wait != Longest {
		t.Errorf("%s after 30 failures", wait)
	}
	if wait := fails(errQuota, 1); wait != first {
		t.Errorf("%s after the first refusal", wait)
	}
	if wait := fails(errQuota, 30); wait != LongestRefused {
		t.Errorf("%s after 30 refusals", wait)
	}
	l.Forget(job)
	if wait := fails(errQuota, 1); wait != first || len(l.longest) != 1 {
		t.Errorf("%s after a success", wait)
	}
	l.Forget(job)
	if len(l.longest) != 0 {
		t.Error("it remembers what went well")
	}
}
