package sim

import "slices"

// shrink omits draws of a failing script as long as it still fails. The cause may change meanwhile. Groups of draws are
// omitted first, then single draws.
func shrink(s *script) *script {
	small := s
	for group := max(1, len(s.draws)/2); ; group = max(1, group/2) {
		changed := false
		for at := 0; at < len(small.draws); at += group {
			if fewer := small.omit(at, min(at+group, len(small.draws))); fewer != nil && runScript(fewer, worldOptions{}).violation != nil {
				small, changed = fewer, true
			}
		}
		if group == 1 && !changed {
			return small
		}
	}
}

// omit returns a script without the actions of the draws from start to end. It returns nil if there are none.
func (s *script) omit(start, end int) *script {
	draws, changed := slices.Clone(s.draws), false
	for i := start; i < end; i++ {
		changed = changed || !draws[i].omitted
		draws[i].omitted = true
	}
	if !changed {
		return nil
	}
	return newScript(s.seed, draws)
}
