package tui

import (
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// paletteCommands returns the commands that the palette offers before the user types an argument: the screens, the
// commands that take an argument, and all actions that have a key on this screen.
func (a *App) paletteCommands() []command {
	var all []command
	for _, tab := range a.tabs {
		all = append(all, command{name: strings.ToLower(tab.Tab), help: "open the screen " + tab.Tab, do: a.applyLater(screenapi.Open{Screen: tab.Name})})
	}
	for _, c := range []command{
		{name: "job", takes: "ID or name", help: "open a job"},
		{name: "queue", takes: "name", help: "show the jobs of a queue"},
		{name: "node", takes: "name", help: "open a node"},
		{name: "ns", takes: "namespace", help: "show another namespace, or all"},
		{name: "ctx", takes: "context", help: "switch to another context of the kubeconfig"},
		{name: "theme", takes: "name", help: strings.Join(theme.Names(), ", ")},
		{name: "resource", takes: "name", help: "resource shown in heat maps and bars"},
		{name: "filter", takes: "text", help: "show only matching rows"},
	} {
		c.do = func() { a.overlay = &paletteBox{line: newLine(c.name + " ")}; a.overlay.(*paletteBox).findCommands(a) }
		all = append(all, c)
	}
	seen := map[string]bool{}
	for _, c := range all {
		seen[c.name] = true
	}
	for _, binding := range a.screenKeys(a.VisibleScreen().Name()) {
		if binding.Key == ":" || seen[binding.Name] || moves[binding.Name] {
			continue
		}
		seen[binding.Name] = true
		all = append(all, command{name: binding.Name, help: binding.Help + " (" + KeyName(binding.Key) + ")", do: func() { a.runBinding(&binding) }})
	}
	return all
}

// moves lists the cursor movements, which the palette does not offer.
var moves = map[string]bool{"up": true, "down": true, "page up": true, "page down": true, "first": true, "last": true}

func (a *App) applyLater(effects ...screenapi.Effect) func() {
	return func() { a.applyEffects(effects, a.VisibleScreen()) }
}

// withArgument returns the commands for a name and an argument, one for each possible meaning of the argument. It
// returns nil if no command with that name takes an argument.
func (a *App) withArgument(name, argument string) []command {
	var all []command
	add := func(called, help string, effects ...screenapi.Effect) {
		all = append(all, command{name: name + " " + called, help: help, do: a.applyLater(effects...)})
	}
	switch name {
	case "job":
		return a.jobsNumberedOrNamed(argument)
	case "queue":
		for _, q := range a.ctx.Snap.Queues {
			add(q.Name, "its jobs", screenapi.Open{Screen: screenapi.Jobs}, screenapi.SetFilter{Text: "queue=" + q.Name})
		}
	case "node":
		for _, n := range a.ctx.Snap.Nodes {
			add(n.Name, string(n.State), screenapi.Open{Screen: screenapi.Nodes, Target: n.Name})
		}
	case "ns":
		add("all", "all namespaces", screenapi.SetNamespace{})
		for _, namespace := range a.knownNamespaces() {
			add(namespace, "only this namespace", screenapi.SetNamespace{Namespace: namespace})
		}
	case "ctx":
		for _, c := range a.contexts {
			add(c, "the cluster of this context", screenapi.SwitchContext{Name: c})
		}
	case "theme":
		for _, t := range theme.Names() {
			add(t, "", screenapi.SetTheme{Name: t})
		}
	case "resource":
		for _, r := range screenapi.ShownResources(a.ctx.Snap) {
			add(r, "in heat maps and bars", screenapi.SetResource{Resource: r})
		}
	case "filter":
		return []command{{name: "filter " + argument, help: "show only matching rows", do: a.applyLater(screenapi.SetFilter{Text: argument})}}
	default:
		return nil
	}
	return bestMatches(all, name+" "+argument)
}

// knownNamespaces returns the user's own namespace and all namespaces that contain jobs.
func (a *App) knownNamespaces() []string {
	names := map[string]bool{}
	if a.own != "" {
		names[a.own] = true
	}
	for _, job := range a.ctx.Snap.Jobs {
		names[job.Namespace] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// resemblesJob reports whether a text matches part of a job's name, or the beginning of its number.
func resemblesJob(text string, job *snapshot.Job) bool {
	return text != "" && (fuzzyScore(job.Name, text) >= 0 || strings.HasPrefix(job.ID, text))
}

// jobsNumberedOrNamed returns commands that open the jobs with the specified number or name.
func (a *App) jobsNumberedOrNamed(text string) []command {
	const most = 50
	all := []command{}
	for _, exact := range []bool{true, false} {
		for _, job := range a.ctx.Snap.Jobs {
			hit := job.ID == text || job.Name == text
			if !exact {
				hit = !hit && resemblesJob(text, job)
			}
			if hit && len(all) < most {
				all = append(all, command{
					name: "job " + strings.TrimSpace(job.ID+" "+job.Name), help: job.Namespace + ", " + job.State,
					do: a.applyLater(screenapi.Open{Screen: screenapi.Job, Target: string(job.UID)}),
				})
			}
		}
	}
	return all
}
