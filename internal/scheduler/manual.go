package scheduler

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Manuals are what can be set of actions and policies, by name. Policies from
// outside that say nothing of themselves are left out.
func Manuals() (ofActions, ofPolicies map[string]config.Manual) {
	ofActions, ofPolicies = map[string]config.Manual{}, map[string]config.Manual{}
	for name, a := range actions {
		if d, ok := a.(session.Documented); ok {
			ofActions[name] = d.Manual()
		}
	}
	for name, build := range policies {
		if d, ok := build(config.Plugin{Name: name}, func(string) {}).(session.Documented); ok {
			ofPolicies[name] = d.Manual()
		}
	}
	return ofActions, ofPolicies
}
