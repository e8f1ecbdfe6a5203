package policy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/extender"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
)

// TestTheConfigurationIsDocumented compares docs/scheduler-configuration.md with the descriptions in actions and
// policies.
func TestTheConfigurationIsDocumented(t *testing.T) {
	if err := extender.RegisterPolicy(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "docs", "scheduler-configuration.md")
	page := configurationPage()
	if *rewrite {
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(page, string(have)); diff != "" {
		t.Errorf("docs/scheduler-configuration.md is not what the manuals say (-manuals +document); go test ./test/policy -rewrite:\n%s", diff)
	}
}

const configurationIntro = `# The scheduler's configuration

What can stand in Volcano's file (` + "`volcano-scheduler.conf`" + `): every action, policy, switch and argument, with its default. Made from what they say of themselves
(` + "`manual.go`" + ` in [` + "`internal/scheduler`" + `](../internal/scheduler)); ` + "`go test ./test/policy -rewrite`" + ` writes it anew. Each of them matters in a story of
[` + "`test/scenarios`" + `](../test/scenarios), and a test holds that, too. Where Volcano does otherwise: [from-volcano.md](from-volcano.md).

` + "```" + `yaml
%s` + "```" + `

That is what runs without a file. Actions run in this order in every cycle. Policies of an earlier tier have the first word: in orders, and about whom an action
may evict. A file that changes is read within two seconds; one that is wrong is refused, and the last good one stays. ` + "`vcctl config check`" + ` says what a file means before it is used,
and what of it has no effect.

Beside its name a policy takes switches and ` + "`arguments`" + `; an action takes arguments under ` + "`configurations`" + `:

` + "```" + `yaml
configurations:
- name: backfill
  arguments: {easy: false}
` + "```" + `
`

func configurationPage() string {
	var page strings.Builder
	fmt.Fprintf(&page, configurationIntro, config.DefaultText)
	ofActions, ofPolicies := scheduler.Manuals()
	page.WriteString("\n## Actions\n")
	for _, name := range []string{"enqueue", "allocate", "backfill", "preempt", "reclaim", "gangpreempt", "gangreclaim", "shuffle"} {
		chapter(&page, name, ofActions[name])
		delete(ofActions, name)
	}
	for _, name := range slices.Sorted(maps.Keys(ofActions)) {
		chapter(&page, name, ofActions[name])
	}
	page.WriteString("\n## Policies\n")
	for _, name := range slices.Sorted(maps.Keys(ofPolicies)) {
		chapter(&page, name, ofPolicies[name])
	}
	page.WriteString("\n## metrics\n\nWhere figures of the nodes' real load come from, for usage and rescheduling.\n")
	table(&page, "Key", config.MetricsOptions, "")
	page.WriteString("\n## Accepted, and without effect\n\nThe scheduler names them in a warning.\n\n| Key or policy | Why |\n|---|---|\n")
	for _, key := range config.NoEffectKeys() {
		why, _ := config.NoEffectReason(key)
		fmt.Fprintf(&page, "| `%s` | %s |\n", key, why)
	}
	for _, name := range config.VendorPolicies() {
		instead, _ := config.VendorReplacement(name)
		fmt.Fprintf(&page, "| policy `%s` | of a vendor's cloud: %s |\n", name, instead)
	}
	return page.String()
}

func chapter(page *strings.Builder, name string, m config.Manual) {
	fmt.Fprintf(page, "\n### %s\n\n%s\n", name, m.Text)
	table(page, "Switch", m.Switches, "true")
	table(page, "Argument", m.Arguments, "")
}

func table(page *strings.Builder, what string, options []config.Option, usual string) {
	if len(options) == 0 {
		return
	}
	fmt.Fprintf(page, "\n| %s | Default | Meaning |\n|---|---|---|\n", what)
	for _, o := range options {
		key, def, text := o.Key, o.Default, o.Text
		if o.In != "" {
			key = o.In + "." + o.Key
		}
		if def == "" {
			def = usual
		}
		if o.Idle {
			text = "changes nothing: " + text
		}
		fmt.Fprintf(page, "| `%s` | %s | %s |\n", key, def, text)
	}
}
