package v1alpha1

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// notADAG is Volcano's message for invalid dependencies.
const notADAG = "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG)"

// validateDependencies checks that tasks depend only on other tasks of the same job, without cycles.
func validateDependencies(tasks []TaskSpec, path *field.Path) field.ErrorList {
	graph := make(map[string][]string, len(tasks))
	for i := range tasks {
		graph[tasks[i].Name] = nil
		if tasks[i].DependsOn != nil {
			graph[tasks[i].Name] = tasks[i].DependsOn.Name
		}
	}
	var errs field.ErrorList
	for i := range tasks {
		at := path.Index(i).Child("dependsOn", "name")
		for j, name := range graph[tasks[i].Name] {
			if _, ok := graph[name]; !ok {
				errs = append(errs, field.Invalid(at.Index(j), name, notADAG+": no task of this job has this name"))
			}
		}
	}
	if circle := findCircle(tasks, graph); len(circle) > 0 {
		errs = append(errs, field.Invalid(path, strings.Join(circle, " -> "), fmt.Sprintf("%s: task %s depends on itself", notADAG, circle[0])))
	}
	return errs
}

// findCircle returns the first cycle among tasks, with its first name repeated at the end, or nil.
func findCircle(tasks []TaskSpec, graph map[string][]string) []string {
	const visiting, done = 1, 2
	state := make(map[string]int, len(graph))
	var trail []string
	var visit func(name string) []string
	visit = func(name string) []string {
		switch state[name] {
		case done:
			return nil
		case visiting:
			for i := range trail {
				if trail[i] == name {
					return append(append([]string(nil), trail[i:]...), name)
				}
			}
		}
		state[name] = visiting
		trail = append(trail, name)
		for _, next := range graph[name] {
			if circle := visit(next); circle != nil {
				return circle
			}
		}
		trail = trail[:len(trail)-1]
		state[name] = done
		return nil
	}
	for i := range tasks {
		if circle := visit(tasks[i].Name); circle != nil {
			return circle
		}
	}
	return nil
}
