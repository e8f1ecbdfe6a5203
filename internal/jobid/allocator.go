package jobid

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Mark is the stored state. All numbers up to Value are reserved.
type Mark struct {
	Value int64
	// Version is the store's version of the mark, which Swap needs; empty if nothing is stored.
	Version string
	// Missing is true if there is no valid mark.
	Missing bool
}

// ErrConflict is the error of Swap if the mark has changed since it was read.
var ErrConflict = errors.New("another process has reserved these job IDs")

// ErrUnavailable is the error that Take returns if the store cannot be reached, and for a while after that.
var ErrUnavailable = errors.New("job IDs are temporarily unavailable")

// Store stores the mark.
type Store interface {
	Load(ctx context.Context) (Mark, error)
	// Swap raises the mark to a value if it has not changed since it was loaded; otherwise it returns ErrConflict.
	// After any other error, it is unknown whether the mark was raised.
	Swap(ctx context.Context, old Mark, to int64) (Mark, error)
	// Used returns the highest number among all existing jobs. It is called only if there is no valid mark.
	Used(ctx context.Context) (int64, error)
}

const (
	// firstBlock and largestBlock limit the number of ids reserved at once. The block size doubles each time a block is
	// used up within the time grows.
	firstBlock, largestBlock = 8, 1000
	grows                    = 2 * time.Second
	// fresh is how long numbers from a block are assigned without checking whether another process has reserved a later
	// block.
	fresh = 2 * time.Second
	// patience is how long one call waits for the store. retryAfter is how long all calls fail after an error.
	patience, retryAfter = 2 * time.Second, 2 * time.Second
	// margin is added to the highest used number if the mark was lost, because ten processes may have reserved that
	// many numbers without using them.
	margin = 10 * largestBlock
	// tries is the maximum number of attempts in one call if other processes are raising the mark at the same time.
	tries = 20
)

// Allocator allocates job numbers.
type Allocator struct {
	store Store
	now   func() time.Time
	turn  chan struct{} // held by the call in progress

	next, end int64 // the unused numbers of the block are next to end
	size      int64 // size of the last reserved block
	mark      Mark  // last known mark; if its version is empty, it must be loaded
	reserved  time.Time
	looked    time.Time // when the mark was last found unchanged
	refused   time.Time // until when calls fail immediately
}

// New returns an Allocator. It reads nothing before the first call of Take.
func New(store Store, now func() time.Time) *Allocator {
	return &Allocator{store: store, now: now, turn: make(chan struct{}, 1), next: 1}
}

// Take returns the first of n consecutive numbers that belong only to the caller. An error means that no numbers will
// be available soon.
func (a *Allocator) Take(ctx context.Context, n int) (int64, error) {
	if n < 1 {
		return 0, fmt.Errorf("the number of job IDs must be positive, not %d", n)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
	}
	if a.now().Before(a.refused) {
		return 0, ErrUnavailable
	}
	if err := a.ensureNumbers(ctx, int64(n)); err != nil {
		a.refused = a.now().Add(retryAfter)
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	first := a.next
	a.next += int64(n)
	return first, nil
}

// ensureNumbers ensures that the block has n numbers left and is still the latest one.
func (a *Allocator) ensureNumbers(ctx context.Context, n int64) error {
	if a.remainingNumbers() >= n {
		latest, err := a.isLatestBlock(ctx)
		if err != nil || latest {
			return err
		}
	}
	return a.reserveBlock(ctx, n)
}

func (a *Allocator) remainingNumbers() int64 { return a.end - a.next + 1 }

// isLatestBlock reports whether this block is still the last one that any process has reserved. It reads the mark only
// if the last check is older than fresh.
func (a *Allocator) isLatestBlock(ctx context.Context) (bool, error) {
	now := a.now()
	if now.Sub(a.looked) < fresh {
		return true, nil
	}
	mark, err := a.store.Load(ctx)
	if err != nil {
		return false, err
	}
	a.mark = mark
	if mark.Missing || mark.Value != a.end {
		return false, nil
	}
	a.looked = now
	return true, nil
}

// reserveBlock raises the mark by a block of at least n numbers.
func (a *Allocator) reserveBlock(ctx context.Context, n int64) error {
	size := max(a.nextBlockSize(), n)
	for range tries {
		if a.mark.Version == "" {
			mark, err := a.store.Load(ctx)
			if err != nil {
				return err
			}
			a.mark = mark
		}
		base, err := a.blockStartAfter(ctx)
		if err != nil {
			return err
		}
		if base > math.MaxInt64-size {
			return fmt.Errorf("no job IDs are available after %d", base)
		}
		mark, err := a.store.Swap(ctx, a.mark, base+size)
		if errors.Is(err, ErrConflict) {
			a.mark = Mark{}
			continue
		}
		if err != nil {
			a.mark = Mark{} // it is unknown what was written
			return err
		}
		now := a.now()
		a.mark, a.next, a.end, a.reserved, a.looked = mark, base+1, base+size, now, now
		a.size = min(size, largestBlock)
		return nil
	}
	return ErrConflict
}

// blockStartAfter returns the number after which the next block starts. This is the mark or, if the mark was lost, a
// number that is no lower than any number in use.
func (a *Allocator) blockStartAfter(ctx context.Context) (int64, error) {
	if !a.mark.Missing {
		return max(a.mark.Value, a.end), nil
	}
	used, err := a.store.Used(ctx)
	if err != nil {
		return 0, err
	}
	if used > 0 || a.mark.Version != "" {
		used += margin // other processes may still hold blocks
	}
	return max(used, a.end), nil
}

// nextBlockSize returns the size of the next block. It is twice the size of the last block if that was used up quickly,
// and otherwise half of it, within the limits firstBlock and largestBlock.
func (a *Allocator) nextBlockSize() int64 {
	switch {
	case a.size == 0:
		return firstBlock
	case a.remainingNumbers() <= 0 && a.now().Sub(a.reserved) < grows:
		return min(2*a.size, largestBlock)
	}
	return max(a.size/2, firstBlock)
}
