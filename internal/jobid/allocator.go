package jobid

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// Mark is what the store holds: all numbers up to Value are spoken for.
type Mark struct {
	Value int64
	// Version is the store's own, for Swap; empty when nothing is stored, or nothing that can be read as a mark.
	Version string
	// Missing says that there is no mark that can be read.
	Missing bool
}

// ErrConflict is what Swap returns when the mark is not the one that was read.
var ErrConflict = errors.New("the mark of job ids was raised by somebody else")

// ErrUnavailable is what Take returns at once for a while after the store could not be reached.
var ErrUnavailable = errors.New("job ids cannot be had at the moment")

// Store keeps the mark.
type Store interface {
	Load(ctx context.Context) (Mark, error)
	// Swap raises the mark to a value, if it still is the one that was loaded: else ErrConflict. Any other error leaves open whether it was raised.
	Swap(ctx context.Context, old Mark, to int64) (Mark, error)
	// Used is the highest number that any job has now; asked only when there is no mark.
	Used(ctx context.Context) (int64, error)
}

const (
	// firstBlock and largestBlock bound how many numbers are reserved at once: blocks double while they do not last for grows.
	firstBlock, largestBlock = 8, 1000
	grows                    = 2 * time.Second
	// fresh is how long a block is handed out without looking whether somebody else has reserved a later one.
	fresh = 2 * time.Second
	// patience is how long one call waits for the store, retryAfter how long all calls are refused after an error.
	patience, retryAfter = 2 * time.Second, 2 * time.Second
	// margin is left where a mark was lost: what ten processes may have reserved and not handed out.
	margin = 10 * largestBlock
	// tries bounds how often a call begins again because others raised the mark.
	tries = 20
)

// Allocator hands out numbers.
type Allocator struct {
	store Store
	now   func() time.Time
	turn  chan struct{} // held by the one call that is at work

	next, end int64 // what is left of the block: next to end
	size      int64 // of the block
	mark      Mark  // as we last saw it; without a version it has to be loaded
	reserved  time.Time
	looked    time.Time // when the mark was last seen to be ours
	refused   time.Time // until when calls are refused
}

// New makes an Allocator. It reads nothing before the first call.
func New(store Store, now func() time.Time) *Allocator {
	return &Allocator{store: store, now: now, turn: make(chan struct{}, 1), next: 1}
}

// Take returns the first of n numbers in a row that are now the caller's alone. An error means that there are none to be had soon.
func (a *Allocator) Take(ctx context.Context, n int) (int64, error) {
	if n < 1 {
		return 0, fmt.Errorf("%d job ids make no sense", n)
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
	if err := a.have(ctx, int64(n)); err != nil {
		a.refused = a.now().Add(retryAfter)
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	first := a.next
	a.next += int64(n)
	return first, nil
}

// have sees to it that the block has n numbers left and is still the latest one.
func (a *Allocator) have(ctx context.Context, n int64) error {
	if a.left() >= n {
		latest, err := a.latest(ctx)
		if err != nil || latest {
			return err
		}
	}
	return a.reserve(ctx, n)
}

func (a *Allocator) left() int64 { return a.end - a.next + 1 }

// latest says whether nobody has reserved numbers after ours; it asks only now and then.
func (a *Allocator) latest(ctx context.Context) (bool, error) {
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

// reserve raises the mark by a block of at least n.
func (a *Allocator) reserve(ctx context.Context, n int64) error {
	size := max(a.nextSize(), n)
	for range tries {
		if a.mark.Version == "" {
			mark, err := a.store.Load(ctx)
			if err != nil {
				return err
			}
			a.mark = mark
		}
		base, err := a.base(ctx)
		if err != nil {
			return err
		}
		if base > math.MaxInt64-size {
			return fmt.Errorf("there are no job ids after %d", base)
		}
		mark, err := a.store.Swap(ctx, a.mark, base+size)
		if errors.Is(err, ErrConflict) {
			a.mark = Mark{}
			continue
		}
		if err != nil {
			a.mark = Mark{} // nobody knows what was written
			return err
		}
		now := a.now()
		a.mark, a.next, a.end, a.reserved, a.looked = mark, base+1, base+size, now, now
		a.size = min(size, largestBlock)
		return nil
	}
	return ErrConflict
}

// base is the number after which the next block begins: the mark, and where that was lost whatever is known to be in use.
func (a *Allocator) base(ctx context.Context) (int64, error) {
	if !a.mark.Missing {
		return max(a.mark.Value, a.end), nil
	}
	used, err := a.store.Used(ctx)
	if err != nil {
		return 0, err
	}
	if used > 0 || a.mark.Version != "" {
		used += margin // others may still hold blocks that nobody knows of
	}
	return max(used, a.end), nil
}

// nextSize doubles blocks that do not last and halves those that do.
func (a *Allocator) nextSize() int64 {
	switch {
	case a.size == 0:
		return firstBlock
	case a.left() <= 0 && a.now().Sub(a.reserved) < grows:
		return min(2*a.size, largestBlock)
	}
	return max(a.size/2, firstBlock)
}
