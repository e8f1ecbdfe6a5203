package joblist

import "sync"

// Limits on the lists in progress. A list stays in memory until its client has read it, and takes several MB for 10,000
// jobs. One user may have half of the lists in progress, so that no user can block all others.
const (
	mostLists       = 16
	mostListsOfUser = mostLists / 2
)

// seats counts the lists in progress. The zero value has no list in progress.
type seats struct {
	mu    sync.Mutex
	taken int
	by    map[string]int // number by user
}

// reserveSeat reserves a seat for a user and returns a function that releases it. It returns false if no seat is free
// for this user.
func (s *seats) reserveSeat(user string) (leave func(), ok bool) {
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
