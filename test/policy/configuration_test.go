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

// TestTheConfigurationIsDocumented compares docs/reference/scheduler-configuration.md with the descriptions in actions and
// policies.
func TestTheConfigurationIsDocumented(t *testing.T) {
	if err := extender.RegisterPolicy(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "docs", "reference", "scheduler-configuration.md")
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
		t.Errorf("docs/reference/scheduler-configuration.md is not what the manuals say (-manuals +document); go test ./test/policy -rewrite:\n%s", diff)
	}
}

const configurationIntro = `# Scheduler configuration

This page is for administrators who write the scheduler's configuration file. It lists every action, policy, switch and
argument with its default. [Configure the scheduler](../guides/configure-scheduler.md) shows how to change the file.

` + "```" + `yaml
%s` + "```" + `

This is the configuration without a file. Actions run in this order in every cycle. Policies of an earlier tier decide
first: about the order of jobs, and about which pods an action may evict.

Beside its name, a policy takes switches and ` + "`arguments`" + `. An action takes arguments under ` + "`configurations`" + `:

` + "```" + `yaml
configurations:
- name: backfill
  arguments: {easy: false}
` + "```" + `

*This page is generated from ` + "`manual.go`" + ` of each action and policy; ` + "`go test ./test/policy -rewrite`" + ` writes it.*
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
	page.WriteString("\n## metrics\n\nThe source of the measured load of nodes, for usage and rescheduling.\n")
	table(&page, "Key", config.MetricsOptions, "")
	page.WriteString("\n## Accepted without effect\n\nThe scheduler accepts these and reports each in a warning.\n\n| Key or policy | Why |\n|---|---|\n")
	for _, key := range config.NoEffectKeys() {
		why, _ := config.NoEffectReason(key)
		fmt.Fprintf(&page, "| `%s` | %s |\n", key, why)
	}
	for _, name := range config.VendorPolicies() {
		instead, _ := config.VendorReplacement(name)
		fmt.Fprintf(&page, "| policy `%s` | belongs to a vendor's edition; %s |\n", name, instead)
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
