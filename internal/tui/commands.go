package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// paletteCommands returns the commands that the palette offers before the user types an argument: the screens, the
// commands that take an argument, and all actions that have a key on this screen.
func (a *App) paletteCommands() []command {
	var all []command
	for _, tab := range a.tabs {
		all = append(all, command{name: strings.ToLower(tab.Tab), help: "open the " + tab.Tab + " screen", do: a.applyLater(screenapi.Open{Screen: tab.Name})})
	}
	if _, ok := a.specs[screenapi.Events]; ok {
		all = append(all, command{name: "events", also: []string{"ev"}, help: "show all events", do: a.applyLater(screenapi.Open{Screen: screenapi.Events})})
	}
	if _, ok := a.specs[screenapi.History]; ok {
		all = append(all, command{name: "history", help: "show the history of the cluster since the dashboard started", do: a.applyLater(screenapi.Open{Screen: screenapi.History})})
	}
	if a.ctx.Snap.Usage != nil && a.ctx.Snap.Usage.HasGPU {
		idle := fmt.Sprintf("gpu%%<%d", snapshot.BusyPercent)
		all = append(all, command{name: "idle gpus", help: "show the jobs that do not use their GPUs (filter " + idle + ")",
			do: a.applyLater(screenapi.Open{Screen: screenapi.Jobs, Filter: idle})})
	}
	all = append(all, command{name: "compact", help: "switch between drawings and text without boxes, bars and maps", do: a.applyLater(screenapi.ToggleCompact{})})
	for _, state := range []string{"pending", "running", "failed", "completed"} {
		filter := "st:" + state
		all = append(all, command{name: state, also: []string{state + " jobs"}, help: "show the " + state + " jobs (filter " + filter + ")", do: a.applyLater(screenapi.Open{Screen: screenapi.Jobs, Filter: filter})})
	}
	if _, ok := a.specs[screenapi.Tree]; ok {
		all = append(all, command{name: "tree", also: []string{"xray", "pods", "po", "podgroup", "pg"}, help: "show the job, its PodGroup, tasks and pods as a tree", do: a.openTree})
	}
	for _, c := range []command{
		{name: "job", takes: "ID or name", help: "open a job"},
		{name: "queue", takes: "name", help: "show the jobs of a queue"},
		{name: "node", takes: "name", help: "open a node"},
		{name: "ns", also: []string{"namespace"}, takes: "namespace", help: "show another namespace or all namespaces"},
		{name: "ctx", takes: "context", help: "switch to another context of the kubeconfig"},
		{name: "theme", takes: "name", help: strings.Join(a.prefs.ThemeNames(), ", ")},
		{name: "resource", takes: "name", help: "choose the resource for heat maps and bars"},
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
		all = append(all, command{name: binding.Name, also: otherNames[binding.Name], help: binding.Help + " (" + KeyName(binding.Key) + ")", do: func() { a.runBinding(&binding) }})
	}
	return all
}

// openTree shows the selected job as a tree.
func (a *App) openTree() {
	job := a.selectedJob()
	if job == nil {
		a.showNotice(screenapi.Notice{Text: "tree: no job is selected; select one on the screen Jobs", Bad: true})
		return
	}
	a.openScreen(screenapi.Open{Screen: screenapi.Tree, Target: string(job.UID)})
}

// selectedJob returns the job that is selected on the visible screen, or nil.
func (a *App) selectedJob() *snapshot.Job {
	selector, ok := a.VisibleScreen().(screenapi.Selector)
	if !ok {
		return nil
	}
	selected, ok := selector.Selection()
	if !ok || selected.Kind != "job" {
		return nil
	}
	for _, job := range a.ctx.Snap.Jobs {
		if job.Namespace == selected.Namespace && job.Name == selected.Name {
			return job
		}
	}
	return nil
}

// otherNames lists the names under which users of other programs look for an action.
var otherNames = map[string][]string{"quit": {"q", "q!", "exit"}, "yaml": {"manifest"}, "copy": {"yank"}}

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
			add(q.Name, "its jobs", screenapi.Open{Screen: screenapi.Jobs, Filter: "queue=" + q.Name})
		}
	case "node":
		for _, n := range a.ctx.Snap.Nodes {
			add(n.Name, noderow.StateTextOf(n, a.ctx.Words), screenapi.Open{Screen: screenapi.Nodes, Target: n.Name})
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
		for _, t := range a.prefs.ThemeNames() {
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

// mostObjects is the maximum number of objects of one kind that the palette offers.
const mostObjects = 50

// objectCommands returns the commands that open an object whose name resembles a text: a job, node, queue or namespace.
func (a *App) objectCommands(text string) []command {
	all := a.jobsNumberedOrNamed(text)
	offer := func(kind, name, help string, effects ...screenapi.Effect) command {
		return command{name: kind + " " + name, also: []string{name}, help: help, do: a.applyLater(effects...)}
	}
	var nodes, queues, namespaces []command
	for _, n := range a.ctx.Snap.Nodes {
		if len(nodes) < mostObjects && containsFolded(n.Name, text) {
			nodes = append(nodes, offer("node", n.Name, noderow.StateTextOf(n, a.ctx.Words), screenapi.Open{Screen: screenapi.Nodes, Target: n.Name}))
		}
	}
	for _, q := range a.ctx.Snap.Queues {
		if len(queues) < mostObjects && containsFolded(q.Name, text) {
			queues = append(queues, offer("queue", q.Name, "its jobs", screenapi.Open{Screen: screenapi.Jobs, Filter: "queue=" + q.Name}))
		}
	}
	for _, namespace := range a.knownNamespaces() {
		if len(namespaces) < mostObjects && containsFolded(namespace, text) {
			namespaces = append(namespaces, offer("ns", namespace, "only this namespace", screenapi.SetNamespace{Namespace: namespace}))
		}
	}
	return slices.Concat(all, nodes, queues, namespaces)
}

// containsFolded reports whether a name contains a text, regardless of case.
func containsFolded(name, text string) bool {
	return strings.Contains(strings.ToLower(name), strings.ToLower(text))
}

// unknownCommandText returns the message about an unknown command, with the most similar known one.
func (a *App) unknownCommandText(text string) string {
	word, argument, _ := strings.Cut(text, " ")
	if a.withArgument(word, argument) != nil || (word != text && a.withArgument(word, "") != nil) {
		return fmt.Sprintf("%s: nothing matches %q", word, argument)
	}
	said := "unknown command: " + text
	names := map[string]bool{}
	for _, c := range a.paletteCommands() {
		names[c.name] = true
		for _, other := range c.also {
			names[other] = true
		}
	}
	if near := explain.NearestWord(word, names); near != "" {
		said += "; did you mean " + near + "?"
	}
	return said
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
	all := []command{}
	for _, exact := range []bool{true, false} {
		for _, job := range a.ctx.Snap.Jobs {
			hit := job.ID == text || job.Name == text
			if !exact {
				hit = !hit && resemblesJob(text, job)
			}
			if hit && len(all) < mostObjects {
				all = append(all, command{
					name: "job " + strings.TrimSpace(job.ID+" "+job.Name), also: []string{job.Name, job.ID}, help: job.Namespace + ", " + jobrow.Row{Job: job}.StateText(a.ctx.Words),
					do: a.applyLater(screenapi.Open{Screen: screenapi.Job, Target: string(job.UID)}),
				})
			}
		}
	}
	return all
}
