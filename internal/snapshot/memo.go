package snapshot

import "sync"

// memo keeps what was worked out from a Snapshot, as long as that is shown.
type memo struct {
	mu   sync.Mutex
	made map[any]any
}

// Remember works something out of a Snapshot once, however often it is drawn: the key says what.
func Remember[K comparable, T any](s *Snapshot, key K, make func() T) T {
	if s.memo == nil {
		return make()
	}
	s.memo.mu.Lock()
	defer s.memo.mu.Unlock()
	if value, ok := s.memo.made[key].(T); ok {
		return value
	}
	value := make()
	s.memo.made[key] = value
	return value
}
