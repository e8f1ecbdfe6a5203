package job

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestWritesOfAJobGoSideBySide verifies that a hundred writes of a second each take two seconds with sixty-four
// writers.
func TestWritesOfAJobGoSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := newPool(64, nil).runParallel(t.Context(), 100, func(int) error {
			time.Sleep(time.Second)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("100 writes of a second took %v", took)
		}
	})
}

// TestNoWriteStartsAfterTheContextHasEnded verifies that no more writes start after the context has ended.
func TestNoWriteStartsAfterTheContextHasEnded(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	begun := 0
	err := newPool(1, nil).runParallel(ctx, 100, func(int) error {
		begun++
		stop()
		return nil
	})
	if err == nil || begun != 1 {
		t.Errorf("%d writes were begun, error %v; want 1 and that it was cancelled", begun, err)
	}
}

// TestWritesOfOneWriterKeepTheirOrder verifies that a single writer makes the calls in order and in the calling
// goroutine, which the race detector checks, and returns the first error.
func TestWritesOfOneWriterKeepTheirOrder(t *testing.T) {
	first, second := errors.New("the first"), errors.New("the second")
	hopeless := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("exceeded quota"))
	for name, c := range map[string]struct {
		errs  []error
		calls []int
		want  error
	}{
		"no write":                       {nil, nil, nil},
		"one write":                      {[]error{nil}, []int{0}, nil},
		"all succeed":                    {[]error{nil, nil, nil}, []int{0, 1, 2}, nil},
		"the others go on after errors":  {[]error{nil, first, second}, []int{0, 1, 2}, first},
		"no write after a hopeless one":  {[]error{nil, hopeless, nil}, []int{0, 1}, hopeless},
		"an earlier error is the result": {[]error{first, hopeless, nil}, []int{0, 1}, first},
	} {
		t.Run(name, func(t *testing.T) {
			var calls []int
			err := newPool(1, nil).runParallel(t.Context(), len(c.errs), func(i int) error {
				calls = append(calls, i)
				return c.errs[i]
			})
			if diff := cmp.Diff(c.calls, calls); diff != "" || !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v; calls (-want +got):\n%s", err, c.want, diff)
			}
		})
	}
}
