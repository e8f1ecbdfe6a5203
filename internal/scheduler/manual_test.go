package scheduler

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

// TestManualsTellWhatIsRead compares the manuals with the settings that policies and actions read, and with the
// existing switches.
func TestManualsTellWhatIsRead(t *testing.T) {
	ofActions, ofPolicies := Manuals()
	for name := range actions {
		m, told := ofActions[name]
		if !told {
			t.Errorf("action %s has no manual", name)
		}
		if c, ok := actions[name].(cycle.Configurable); ok != (len(m.Arguments) > 0) || ok && !slices.Equal(c.Reads(), m.Reads().Arguments) {
			t.Errorf("action %s reads other arguments than its manual tells: %v", name, m.Reads().Arguments)
		}
	}
	for _, name := range Policies() {
		m, told := ofPolicies[name]
		if !told {
			t.Errorf("policy %s has no manual", name)
			continue
		}
		reads := policies[name](config.Plugin{Name: name}, func(string) {}).Reads()
		for _, diff := range []string{cmp.Diff(m.Reads().Switches, reads.Switches), cmp.Diff(m.Reads().Arguments, reads.Arguments)} {
			if diff != "" {
				t.Errorf("policy %s reads other keys than its manual tells (-told +read):\n%s", name, diff)
			}
		}
		for _, key := range reads.Switches {
			if !slices.Contains(config.Switches, key) {
				t.Errorf("policy %s: %s is no switch", name, key)
			}
		}
	}
}

// TestDefaultsMatchTheManuals sets every argument to its default: the policy must equal the one without it.
func TestDefaultsMatchTheManuals(t *testing.T) {
	_, ofPolicies := Manuals()
	for _, name := range slices.Sorted(maps.Keys(ofPolicies)) {
		for _, o := range ofPolicies[name].Arguments {
			if o.Default == "" || strings.ContainsAny(o.Key+o.In, "<[") || strings.Contains(o.Default, " ") {
				continue
			}
			var value any
			if err := yaml.Unmarshal([]byte(o.Default), &value); err != nil {
				t.Fatal(err)
			}
			arguments := config.Arguments{o.Key: value}
			for section := range strings.SplitSeq(o.In, ".") {
				if section != "" {
					arguments = config.Arguments{section: map[string]any(arguments)}
				}
			}
			if diff := cmp.Diff(built(t, name, nil), built(t, name, arguments), all...); diff != "" {
				t.Errorf("policy %s: %v is not the default (-without +with):\n%s", name, arguments, diff)
			}
		}
	}
}

// all compares the results of New and Configure for an entry, but not the entry.
var all = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.FilterPath(func(p cmp.Path) bool {
		kind := p.Last().Type()
		return kind != nil && (kind.Kind() == reflect.Func || kind == reflect.TypeFor[config.Plugin]())
	}, cmp.Ignore()),
}

type configured struct {
	Policy session.Policy
	Judge  equivalence.Judge
}

func built(t *testing.T, name string, arguments config.Arguments) configured {
	c := configured{Policy: policies[name](config.Plugin{Name: name, Arguments: arguments}, func(text string) {
		if arguments != nil && !strings.Contains(text, "no effect") {
			t.Errorf("policy %s with %v: %s", name, arguments, text)
		}
	})}
	if j, ok := c.Policy.(session.Judging); ok {
		j.Configure(&c.Judge)
	}
	return c
}
