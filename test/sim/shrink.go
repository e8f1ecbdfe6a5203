package sim

import "slices"

// shrink removes actions from a failing script as long as it still fails. The cause may change meanwhile. Groups of
// actions are removed first, then single actions.
func shrink(s *script) *script {
	small := s
	for group := max(1, len(s.actions)/2); ; group = max(1, group/2) {
		removed := false
		for at := 0; at < len(small.actions); {
			fewer := *small
			fewer.actions = slices.Delete(slices.Clone(small.actions), at, min(at+group, len(small.actions)))
			if runScript(&fewer, worldOptions{}).violation != nil {
				small, removed = &fewer, true
				continue
			}
			at += group
		}
		if group == 1 && !removed {
			return small
		}
	}
}
