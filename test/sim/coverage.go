package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/test/apiserver"
)

// coverage counts what faults have affected: for each fault, how often each step was hit. A step is usually a request, as
// stepOf returns it.
type coverage map[string]map[string]int

// cover records that a fault has affected a step.
func (w *World) cover(fault, step string) { w.coverage.add(fault, step, 1) }

func (c coverage) add(fault, step string, count int) {
	if c[fault] == nil {
		c[fault] = map[string]int{}
	}
	c[fault][step] += count
}

// merge adds the counts of another world.
func (c coverage) merge(other coverage) {
	for fault, steps := range other {
		for step, count := range steps {
			c.add(fault, step, count)
		}
	}
}

// String returns one line for each fault and step.
func (c coverage) String() string {
	var b strings.Builder
	for _, fault := range slices.Sorted(maps.Keys(c)) {
		for _, step := range slices.Sorted(maps.Keys(c[fault])) {
			fmt.Fprintf(&b, "%6d  %-38s %s\n", c[fault][step], fault, step)
		}
	}
	return b.String()
}

// expectedCoverage holds, for each fault that must have an effect, how many different steps it must affect in the seeds
// that a test runs by default.
var expectedCoverage = map[string]int{}

// expectCoverage declares that a fault affects at least this number of steps in the seeds that a test runs by default.
func expectCoverage(fault string, steps int) { expectedCoverage[fault] = steps }

// findMissing returns one line for each fault that has affected fewer steps than it must.
func (c coverage) findMissing() []string {
	var missing []string
	for _, fault := range slices.Sorted(maps.Keys(expectedCoverage)) {
		if want := expectedCoverage[fault]; len(c[fault]) < want {
			missing = append(missing, fmt.Sprintf("the fault %q affected %d different steps, want at least %d: %v", fault, len(c[fault]), want,
				slices.Sorted(maps.Keys(c[fault]))))
		}
	}
	return missing
}

// stepOf returns the kind of a request of a program, such as "scheduler: create binding of Pod".
func stepOf(l *link, r *apiserver.Request) string {
	program := l.process.root().name
	if replica := l.process.world.replicaOf(l.process); replica != nil {
		program = replica.program
	}
	subresource := ""
	if r.Subresource != "" {
		subresource = r.Subresource + " of "
	}
	return fmt.Sprintf("%s: %s %s%s", program, r.Verb, subresource, r.Kind.Kind)
}
