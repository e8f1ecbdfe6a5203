package scenarios

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
)

// TestEveryOptionMattersInAStory removes every action, policy, switch and argument from the configurations of the
// stories, one at a time, and runs the stories again. The outcome of at least one story must change. An option that is
// accepted without effect must appear in a story.
func TestEveryOptionMattersInAStory(t *testing.T) {
	left := options()
	for _, s := range stories(t) {
		original := ""
		for i := range s {
			for _, v := range s[i].variants() {
				if kind, wanted := left[v.option]; !wanted || kind == acts && v.same() {
					continue
				} else if kind == idles {
					delete(left, v.option)
					continue
				}
				if original == "" {
					original = s.outcome(t)
				}
				if s.with(i, v.text).outcome(t) != original {
					delete(left, v.option)
				}
			}
		}
	}
	for _, option := range slices.Sorted(maps.Keys(left)) {
		if optionsElsewhere[option] == "" {
			t.Errorf("%s: no story goes otherwise without it", option)
		}
	}
}

// optionsElsewhere maps options to the tests that cover them instead of stories.
var optionsElsewhere = map[string]string{
	"policy extender: extender.httpTimeout":                    "TestTheServerHasItsSay", // slow
	"policy predicates: dynamicresources.filterTimeoutSeconds": "TestAttachingIsRead",
}

type effect int

const (
	acts  effect = iota
	idles        // accepted without effect
)

// options returns all options by their names in the reference.
func options() map[string]effect {
	all := map[string]effect{}
	add := func(owner string, options []config.Option) {
		for _, o := range options {
			all[optionName(owner, o)] = acts
			if o.Idle {
				all[optionName(owner, o)] = idles
			}
		}
	}
	ofActions, ofPolicies := scheduler.Manuals()
	for name, m := range ofActions {
		all["action "+name] = acts
		add("action "+name, m.Arguments)
	}
	for name, m := range ofPolicies {
		all["policy "+name] = acts
		add("policy "+name, m.Switches)
		add("policy "+name, m.Arguments)
	}
	return all
}

func optionName(owner string, o config.Option) string {
	if o.In != "" {
		return owner + ": " + o.In + "." + o.Key
	}
	return owner + ": " + o.Key
}

// variant is a configuration without one option.
type variant struct {
	option string
	text   []string
	before string
}

func (v *variant) same() bool { return strings.Join(v.text, "\n") == v.before }

// step is one command of a story.
type step struct {
	line string
	body []string
}

type story []step

// stories reads all stories.
func stories(t *testing.T) map[string]story {
	t.Helper()
	files, err := filepath.Glob("*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	all := map[string]story{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s story
		for _, block := range strings.Split(string(text), "\n\n") {
			lines := slices.DeleteFunc(strings.Split(block, "\n"), func(l string) bool { return strings.HasPrefix(l, "#") || l == "" })
			if end := slices.Index(lines, "----"); end >= 0 {
				lines = lines[:end]
			}
			if len(lines) > 0 {
				s = append(s, step{lines[0], lines[1:]})
			}
		}
		all[file] = s
	}
	return all
}

// with returns the story with another body for one command.
func (s story) with(i int, body []string) story {
	other := slices.Clone(s)
	other[i].body = body
	return other
}

// outcome returns the output of a story, without messages about the configuration. If a command names a missing object,
// the output ends there.
func (s story) outcome(t *testing.T) (told string) {
	var out strings.Builder
	defer func() {
		if problem := recover(); problem != nil {
			told = fmt.Sprintf("%s\ncannot go on: %v", out.String(), problem)
		}
	}()
	w := newWorld(t)
	w.fails = func(text string) { panic(text) }
	for _, step := range s {
		answer := w.do(step.line, step.body)
		if step.line != "config" {
			fmt.Fprintf(&out, "%s\n%s\n", step.line, strings.Join(answer, "\n"))
		}
	}
	return out.String()
}

// variants returns the configurations of a command with one option removed.
func (s *step) variants() (all []variant) {
	if s.line != "config" {
		return nil
	}
	whole := s.parse()
	names, _ := whole["actions"].(string)
	ofActions, ofPolicies := scheduler.Manuals()
	for _, name := range strings.Split(names, ",") {
		rest := slices.DeleteFunc(strings.Split(names, ","), func(one string) bool { return one == name })
		if len(rest) == 0 {
			continue
		}
		all = append(all, s.without("action "+strings.TrimSpace(name), func(c map[string]any) { c["actions"] = strings.Join(rest, ",") }))
	}
	for i, entry := range entries(whole["configurations"]) {
		owner := fmt.Sprint(entry["name"])
		all = append(all, s.arguments("action "+owner, ofActions[owner].Arguments, entry, func(c map[string]any) map[string]any { return entries(c["configurations"])[i] })...)
	}
	for i, tier := range entries(whole["tiers"]) {
		for k, entry := range entries(tier["plugins"]) {
			owner := fmt.Sprint(entry["name"])
			all = append(all, s.without("policy "+owner, func(c map[string]any) {
				t := entries(c["tiers"])[i]
				plugins, _ := t["plugins"].([]any)
				t["plugins"] = slices.Delete(plugins, k, k+1)
			}))
			at := func(c map[string]any) map[string]any { return entries(entries(c["tiers"])[i]["plugins"])[k] }
			for _, o := range ofPolicies[owner].Switches {
				if _, given := entry[o.Key]; given {
					all = append(all, s.without(optionName("policy "+owner, o), func(c map[string]any) { delete(at(c), o.Key) }))
				}
			}
			all = append(all, s.arguments("policy "+owner, ofPolicies[owner].Arguments, entry, at)...)
		}
	}
	return all
}

// arguments returns the variants with one argument of an entry removed.
func (s *step) arguments(owner string, known []config.Option, entry map[string]any, at func(map[string]any) map[string]any) (all []variant) {
	for _, o := range known {
		var path []string
		if o.In != "" {
			path = strings.Split(o.In, ".")
		}
		path = append(path, o.Key)
		if drop(entry["arguments"], path, false) {
			all = append(all, s.without(optionName(owner, o), func(c map[string]any) { drop(at(c)["arguments"], path, true) }))
		}
	}
	return all
}

// drop finds the fields at a path and, if really is true, removes them. <name> and [] in a path match several fields.
func drop(in any, path []string, really bool) (found bool) {
	name, inside := strings.CutSuffix(path[0], "[]")
	fields, _ := in.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		before, after, chosen := strings.Cut(name, "<name>")
		if key != name && !(chosen && strings.HasPrefix(key, before) && strings.HasSuffix(key, after)) {
			continue
		}
		switch {
		case len(path) == 1:
			found = true
			if really {
				delete(fields, key)
			}
		case inside:
			for _, one := range entries(fields[key]) {
				found = drop(one, path[1:], really) || found
			}
		default:
			found = drop(fields[key], path[1:], really) || found
		}
	}
	return found
}

func (s *step) parse() map[string]any {
	whole := map[string]any{}
	_ = yaml.Unmarshal([]byte(strings.Join(s.body, "\n")), &whole) // invalid YAML has no options
	return whole
}

// without returns the configuration after a change.
func (s *step) without(option string, change func(map[string]any)) variant {
	write := func(c map[string]any) string {
		text, err := yaml.Marshal(c)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	whole := s.parse()
	before := write(whole)
	change(whole)
	return variant{option, strings.Split(strings.TrimSpace(write(whole)), "\n"), strings.TrimSpace(before)}
}

func entries(of any) (all []map[string]any) {
	items, _ := of.([]any)
	for _, item := range items {
		fields, _ := item.(map[string]any)
		all = append(all, fields)
	}
	return all
}
