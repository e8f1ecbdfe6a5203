package listing

import "sync"

// A list is in memory as it is written, some MB for 10,000 jobs, for as long as its reader takes it: so many are under way at once, of one user half of them,
// lest he be the only one who is told.
const (
	mostLists       = 16
	mostListsOfUser = mostLists / 2
)

// seats are those of the readers of lists. The zero value has all of them free.
type seats struct {
	mu    sync.Mutex
	taken int
	by    map[string]int // users
}

// take gives a user a seat, if there is one, and how to leave it.
func (s *seats) take(user string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken >= mostLists || s.by[user] >= mostListsOfUser {
		return nil, false
	}
	if s.by == nil {
		s.by = map[string]int{}
	}
	s.taken++
	s.by[user]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.taken--
		if s.by[user]--; s.by[user] == 0 {
			delete(s.by, user)
		}
	}, true
}
