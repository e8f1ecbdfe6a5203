package simnode

import (
	"sync"

	"k8s.io/client-go/tools/cache"
)

// counter counts finished items and reports the count. The reports are never concurrent.
type counter struct {
	mu          sync.Mutex
	done, total int
	tell        func(done, total int)
}

func newCounter(total int, tell func(done, total int)) *counter {
	return &counter{total: total, tell: tell}
}

func (c *counter) countAndReport() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.tell != nil {
		c.tell(c.done, c.total)
	}
}

// synced is a store with a channel that is closed when the store is first filled.
type synced struct {
	cache.ReflectorStore
	once sync.Once
	done chan struct{}
}

func newSynced(store cache.ReflectorStore) *synced {
	return &synced{ReflectorStore: store, done: make(chan struct{})}
}

// Replace fills the store.
func (s *synced) Replace(list []any, version string) error {
	err := s.ReflectorStore.Replace(list, version)
	if err == nil {
		s.once.Do(func() { close(s.done) })
	}
	return err
}
