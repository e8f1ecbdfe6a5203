package tasktopology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// wishes holds the placement rules between the tasks of a gang, by task name.
type wishes struct {
	near, apart         map[[2]string]bool
	selfNear, selfApart map[string]bool
	order               map[string]int // positions, starting at 1
	named               map[string]bool
}

// parseWishes parses the annotations of a PodGroup. It returns nil if they contain no rules.
//
// In an annotation, ";" separates groups of tasks, and "," separates tasks. A group of a single task refers to pods
// of the same task.
func parseWishes(annotations map[string]string) *wishes {
	affinity, anti, order := annotations[keys.TaskTopologyAffinity], annotations[keys.TaskTopologyAntiAffinity], annotations[keys.TaskTopologyOrder]
	if affinity == "" && anti == "" && order == "" {
		return nil
	}
	w := &wishes{
		near: map[[2]string]bool{}, apart: map[[2]string]bool{}, selfNear: map[string]bool{}, selfApart: map[string]bool{},
		order: map[string]int{}, named: map[string]bool{},
	}
	w.parsePairs(affinity, w.near, w.selfNear)
	w.parsePairs(anti, w.apart, w.selfApart)
	for _, name := range splitUnique(order, ",") {
		w.named[name] = true
		if w.order[name] == 0 {
			w.order[name] = len(w.order) + 1
		}
	}
	if len(w.named) == 0 {
		return nil
	}
	return w
}

// unknownTaskWarnings returns warnings about tasks that the annotations name but that the gang does not have.
func unknownTaskWarnings(j *framework.Job) (texts []string) {
	known := map[string]bool{}
	for name := range j.MinTaskMember {
		known[name] = true
	}
	for _, t := range j.Tasks {
		known[t.Role] = true
	}
	for _, key := range []string{keys.TaskTopologyAffinity, keys.TaskTopologyAntiAffinity, keys.TaskTopologyOrder} {
		var strange []string
		for _, group := range splitUnique(j.Annotations[key], ";") {
			for _, name := range splitUnique(group, ",") {
				if !known[name] && !slices.Contains(strange, name) {
					strange = append(strange, name)
				}
			}
		}
		if len(strange) > 0 {
			texts = append(texts, fmt.Sprintf("%s: task %s does not exist; use names from spec.tasks", key, strings.Join(strange, ", ")))
		}
	}
	return texts
}

func (w *wishes) parsePairs(text string, between map[[2]string]bool, self map[string]bool) {
	for _, group := range splitUnique(text, ";") {
		names := splitUnique(group, ",")
		for i, a := range names {
			w.named[a] = true
			if len(names) == 1 {
				self[a] = true
			}
			for _, b := range names[i+1:] {
				between[[2]string{a, b}], between[[2]string{b, a}] = true, true
			}
		}
	}
}

// splitUnique splits a list and drops empty and duplicate entries.
func splitUnique(text, separator string) []string {
	var out []string
	for _, word := range strings.Split(text, separator) {
		if word = strings.TrimSpace(word); word != "" && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// affinityOf returns 1 if pods of the two tasks should be near each other, -1 if they should be apart, and 0 otherwise.
func (w *wishes) affinityOf(a, b string) int {
	sum := 0
	if w.near[[2]string{a, b}] || (a == b && w.selfNear[a]) {
		sum++
	}
	if w.avoidsTask(a, b) {
		sum--
	}
	return sum
}

func (w *wishes) avoidsTask(a, b string) bool {
	return w.apart[[2]string{a, b}] || (a == b && w.selfApart[a])
}

// rankTask orders tasks by how much their placement matters: first tasks whose pods repel each other and therefore
// start buckets, then tasks that attract other tasks.
func (w *wishes) rankTask(task string) int {
	switch {
	case w.selfApart[task]:
		return 0
	case w.hasPairWith(w.near, task):
		return 1
	case w.selfNear[task]:
		return 2
	}
	return 3
}

func (w *wishes) hasPairWith(pairs map[[2]string]bool, task string) bool {
	for other := range w.named {
		if pairs[[2]string{task, other}] {
			return true
		}
	}
	return false
}
