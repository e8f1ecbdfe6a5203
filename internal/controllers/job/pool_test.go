package job

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestWritesOfAJobGoSideBySide verifies that a hundred writes of a second each take two seconds with sixty-four
// writers.
func TestWritesOfAJobGoSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := newPool(64).runParallel(t.Context(), 100, func(int) error {
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

// TestNoWriteIsBegunThatNobodyWaitsFor verifies that no more writes start after the context has ended.
func TestNoWriteIsBegunThatNobodyWaitsFor(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	begun := 0
	err := newPool(1).runParallel(ctx, 100, func(int) error {
		begun++
		stop()
		return nil
	})
	if err == nil || begun != 1 {
		t.Errorf("%d writes were begun, error %v; want 1 and that it was cancelled", begun, err)
	}
}
