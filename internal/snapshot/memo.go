package snapshot

import "sync"

// memo caches values computed from a Snapshot, as long as the Snapshot is shown.
type memo struct {
	mu   sync.Mutex
	made map[any]any
}

// CachedValue returns the cached value for key, or computes it with compute. A Snapshot that is drawn many times therefore
// computes each value only once.
func CachedValue[K comparable, T any](s *Snapshot, key K, compute func() T) T {
	if s.memo == nil {
		return compute()
	}
	s.memo.mu.Lock()
	defer s.memo.mu.Unlock()
	if value, ok := s.memo.made[key].(T); ok {
		return value
	}
	value := compute()
	s.memo.made[key] = value
	return value
}
