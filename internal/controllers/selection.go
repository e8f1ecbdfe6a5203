package controllers

import (
	"fmt"
	"slices"
	"strings"
)

// Names of the controllers, as accepted by --controllers.
const (
	jobController         = "job-controller"
	podGroupController    = "pg-controller"
	queueController       = "queue-controller"
	gcController          = "gc-controller" // the part of job-controller that deletes jobs after ttlSecondsAfterFinished
	jobFlowController     = "jobflow-controller"
	jobTemplateController = "jobtemplate-controller"
	cronJobController     = "cronjob-controller"
	hyperNodeController   = "hyperNode-controller"
)

var known = []string{jobController, podGroupController, queueController, gcController, jobFlowController, jobTemplateController, cronJobController, hyperNodeController}

// elsewhere lists Volcano's controllers that do not exist here. Users may turn them off without an error.
var elsewhere = []string{"sharding-controller", "colocation-config-controller"}

// Names returns the names of all controllers.
func Names() []string { return slices.Clone(known) }

// DefaultSelection returns the default of --controllers, which turns on all controllers of this project.
func DefaultSelection() []string { return []string{"*", "-sharding-controller"} }

// Selection determines which controllers run. The zero value selects all controllers.
type Selection struct{ off map[string]bool }

// IsEnabled reports whether a controller is turned on.
func (s Selection) IsEnabled(name string) bool { return !s.off[name] }

// ParseSelection parses the value of --controllers. NAME and +NAME turn a controller on, and -NAME turns it off. All
// other controllers are on if the list contains * or is empty. Duplicate and unknown names are errors.
func ParseSelection(list []string) (Selection, error) {
	s := Selection{off: map[string]bool{}}
	chosen := map[string]bool{}
	rest := len(list) == 0
	for _, item := range list {
		if item == "*" {
			rest = true
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(item, "+"), "-")
		on := !strings.HasPrefix(item, "-")
		if _, twice := chosen[name]; twice {
			return s, fmt.Errorf("--controllers: %s is specified twice; specify it once", name)
		}
		switch {
		case slices.Contains(elsewhere, name) && on:
			return s, fmt.Errorf("--controllers: vcd does not include the Volcano controller %s; remove it from the list", name)
		case !slices.Contains(known, name) && !slices.Contains(elsewhere, name):
			return s, fmt.Errorf("--controllers: unknown controller %q; valid controllers are %s; * selects all controllers", name, strings.Join(known, ", "))
		}
		chosen[name] = on
	}
	for _, name := range known {
		if on, ok := chosen[name]; ok {
			s.off[name] = !on
		} else {
			s.off[name] = !rest
		}
	}
	return s, nil
}
