package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAChangedConfigurationIsTakenAndABadOneIsRefusedAloud changes the configuration file of a running scheduler.
func TestAChangedConfigurationIsTakenAndABadOneIsRefusedAloud(t *testing.T) {
	path := filepath.Join(t.TempDir(), "volcano-scheduler.conf")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const tiers = "tiers:\n- plugins:\n  - name: gang\n"
	write("actions: \"enqueue, allocate\"\n" + tiers)
	c := startCluster(t, "--process-nodes=0", "--simulated-nodes=1", "--scheduler-conf="+path)
	said := func(what string, code int, words ...string) {
		t.Helper()
		c.eventually(20e9, what, func() error {
			r := c.run("", "vcctl", "config", "check")
			if r.code != code {
				return fmt.Errorf("exit %d: %s%s", r.code, r.stdout, r.stderr)
			}
			return containsAll(r.stdout+r.stderr, words...)
		})
	}
	events := func() string {
		return c.kubectl("get", "events", "-n", "volcano-system", "-o", `jsonpath={range .items[*]}{.reason}: {.message}{"\n"}{end}`)
	}
	said("the first configuration is in force", 0, path, "enqueue, allocate", "gang")

	write("actions: \"enqueue, alocate\"\n" + tiers)
	said("a bad one is refused, and the old one stays", 1, "alocate", "an older version is active", "enqueue, allocate")
	c.eventually(10e9, "the refusal is an event", func() error { return containsAll(events(), "ConfigurationRefused: ", "alocate") })

	write("actions: \"enqueue, allocate, backfill\"\n" + tiers + "    enableMagic: true\n")
	said("a good one is taken", 0, "enqueue, allocate, backfill", "enableMagic")
	c.eventually(10e9, "which is an event, too", func() error { return containsAll(events(), "ConfigurationTaken: ", "enableMagic") })
	if n := strings.Count(events(), "ConfigurationRefused"); n != 1 {
		t.Errorf("%d events of one refusal, want 1", n)
	}
}
