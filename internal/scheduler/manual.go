package scheduler

import (
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// Manuals returns the documentation of actions and policies, by name. It omits policies from other modules that have no
// documentation.
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
