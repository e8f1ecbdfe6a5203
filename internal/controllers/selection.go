package controllers

import (
	"fmt"
	"slices"
	"strings"
)

// The controllers, by the names that --controllers accepts.
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

// elsewhere lists the controllers of Volcano that this project does not have. They may be turned off.
var elsewhere = []string{"sharding-controller", "colocation-config-controller"}

// Names returns the names of all controllers.
func Names() []string { return slices.Clone(known) }

// DefaultSelection returns the default of --controllers, which turns on all controllers.
func DefaultSelection() []string { return []string{"*", "-sharding-controller"} }

// Selection selects the controllers to run. The zero value selects all.
type Selection struct{ off map[string]bool }

// On reports whether a controller runs.
func (s Selection) On(name string) bool { return !s.off[name] }

// Select parses the value of --controllers. NAME and +NAME turn a controller on, -NAME turns it off. The other
// controllers are on if the list contains * or is empty. A duplicate or unknown name is an error.
func Select(list []string) (Selection, error) {
	s := Selection{off: map[string]bool{}}
	said := map[string]bool{}
	rest := len(list) == 0
	for _, item := range list {
		if item == "*" {
			rest = true
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(item, "+"), "-")
		on := !strings.HasPrefix(item, "-")
		if _, twice := said[name]; twice {
			return s, fmt.Errorf("--controllers: %s is there twice; say once whether it runs", name)
		}
		switch {
		case slices.Contains(elsewhere, name) && on:
			return s, fmt.Errorf("--controllers: %s is a controller of Volcano's that is not here; leave it out", name)
		case !slices.Contains(known, name) && !slices.Contains(elsewhere, name):
			return s, fmt.Errorf("--controllers: there is no controller %q; there are %s, and * for all of them", name, strings.Join(known, ", "))
		}
		said[name] = on
	}
	for _, name := range known {
		if on, ok := said[name]; ok {
			s.off[name] = !on
		} else {
			s.off[name] = !rest
		}
	}
	return s, nil
}
