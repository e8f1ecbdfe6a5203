package controllers

import (
	"fmt"
	"slices"
	"strings"
)

// The controllers, by the names that --controllers knows.
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

// elsewhere are controllers of Volcano's that are not here; they may be turned off.
var elsewhere = []string{"sharding-controller", "colocation-config-controller"}

// Names are those of the controllers that there are.
func Names() []string { return slices.Clone(known) }

// DefaultSelection turns on all that there are.
func DefaultSelection() []string { return []string{"*", "-sharding-controller"} }

// Selection says which controllers run. The zero value: all.
type Selection struct{ off map[string]bool }

// On says whether a controller runs.
func (s Selection) On(name string) bool { return !s.off[name] }

// Select reads the value of --controllers. NAME and +NAME turn a controller on, -NAME turns it off; the others are on if * is in the list, or the
// list is empty. A name that stands there twice is an error, as is one that nobody has.
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
