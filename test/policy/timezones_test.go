package policy

import (
	"slices"
	"testing"
)

// The images contain no time zone data, so each program that parses time zones contains the data itself. Otherwise, it
// would reject every CronJob with a time zone.
func TestProgramsContainTimeZoneData(t *testing.T) {
	t.Parallel()
	missing := []string{"cmd/vcd", "cmd/vcctl", "cmd/kubectl-vc", "cmd/vc-local"}
	for _, s := range everySource(t) {
		if !s.test && slices.Contains(s.imports, "time/tzdata") {
			missing = slices.DeleteFunc(missing, func(dir string) bool { return dir == s.dir })
		}
	}
	for _, dir := range missing {
		t.Errorf("%s does not import time/tzdata", dir)
	}
}
