package job

import (
	"slices"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobactions"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/explain"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// ScreenSpec returns the description of the screen.
func ScreenSpec() screenapi.Spec {
	return screenapi.Spec{Name: screenapi.Job, New: New, Keys: keyBindings()}
}

// doForJobScreen converts a function that only changes the screen to a Do function.
func doForJobScreen(do func(*Job)) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
	return screenapi.DoForScreen(func(j *Job, _ *screenapi.Context) []screenapi.Effect { do(j); return nil })
}

func keyBindings() []screenapi.Binding {
	name := screenapi.Job
	open := func(to page) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return screenapi.DoForScreen(func(j *Job, ctx *screenapi.Context) []screenapi.Effect { return j.showPage(to)(j, ctx) })
	}
	searched := screenapi.GuardForScreen(func(j *Job, _ *screenapi.Context) string {
		if j.log.search == "" && j.lines.Search == "" {
			return "no search text; press / to search logs, events and yaml"
		}
		return ""
	})
	inLog := screenapi.GuardForScreen(func(j *Job, _ *screenapi.Context) string {
		if j.showsLog() {
			return ""
		}
		return "this key works only in the logs; press l to show the logs"
	})
	inSearchedLog := screenapi.GuardForScreen(func(j *Job, _ *screenapi.Context) string {
		switch {
		case !j.showsLog():
			return "this key works only in the logs; press l to show the logs"
		case j.log.search == "":
			return "no search text; press / to search the logs"
		}
		return ""
	})
	aLine := screenapi.GuardForScreen(func(j *Job, _ *screenapi.Context) string {
		switch {
		case !j.showsLog():
			return "this key works only in the logs; press l to show the logs"
		case len(j.log.shown) == 0:
			return "no log lines are shown"
		}
		return ""
	})
	aPod := screenapi.GuardForScreen(func(j *Job, _ *screenapi.Context) string {
		if _, ok := j.pods.Selected(); !ok {
			return "no pod is selected"
		}
		return ""
	})
	find := func(down bool) func(*screenapi.Context, screenapi.Screen) []screenapi.Effect {
		return screenapi.DoForScreen(func(j *Job, ctx *screenapi.Context) []screenapi.Effect { return j.moveToNextMatch(ctx, down) })
	}
	keys := []screenapi.Binding{
		{Screen: name, Key: "s", Name: "summary", Help: "show the job's state, timeline, pods, logs and events", Do: open(summary)},
		{Screen: name, Key: "P", Name: "pods", Help: "show the pods in full screen", Do: open(podList)},
		{Screen: name, Key: "e", Name: "events", Help: "show the events of the job, its pod group and its pods", Do: open(events)},
		{Screen: name, Key: "l", Name: "logs", Help: "show the logs of all pods in full screen", Footer: 12, Do: open(logs)},
		{Screen: name, Key: "Y", Name: "yaml", Help: "show the job as stored in the cluster", Footer: 26, Do: open(manifest)},
		{Screen: name, Key: "t", Name: "tree", Help: "show the job, its PodGroup, tasks and pods as a tree", Footer: 16, Do: screenapi.DoForScreen(func(j *Job, _ *screenapi.Context) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Tree, Target: string(j.uid)}}
		})},
		{Screen: name, Key: "w", Name: "why", Help: "show why the job is waiting, its estimated start, and changes that would start it", Footer: 11, Do: screenapi.DoForScreen(func(j *Job, _ *screenapi.Context) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Explain, Target: string(j.uid) + explain.Below}}
		})},
		{Screen: name, Key: "tab", Name: "pane", Help: "switch between pods and logs", Footer: 4, Do: doForJobScreen(func(j *Job) { j.inLogs = !j.inLogs })},
		{Screen: name, Key: "enter", Name: "pod's log", Help: "show the logs of the marked pods, or of the pod under the cursor", Footer: 13, Guard: aPod, Do: screenapi.DoForScreen((*Job).openPodLogs)},
		{Screen: name, Key: "a", Name: "attach", Help: "open a shell in the pod under the cursor; exit it to return", Footer: 14, Writes: true,
			Guard: screenapi.GuardForScreen((*Job).attachRefusal), Do: screenapi.DoForScreen((*Job).openPodShell)},
		{Screen: name, Key: "o", Name: "output file", Help: "show and copy the path of an sbatch job's output file", Footer: 27, Guard: screenapi.GuardForScreen((*Job).noOutputReason), Do: screenapi.DoForScreen((*Job).copyOutput)},
		{Screen: name, Key: "f", Name: "failed only", Help: "show only failed or blocked pods and their logs, or all pods", Footer: 15, Do: screenapi.DoForScreen(func(j *Job, ctx *screenapi.Context) []screenapi.Effect {
			j.failed = !j.failed
			j.selectPods(ctx)
			return nil
		})},
		{Screen: name, Key: "F", Name: "follow", Footer: 5, Guard: inLog, Help: "follow the newest lines of the log, or stop following", Do: doForJobScreen(func(j *Job) {
			if j.log.pinned {
				j.log.setLastVisible(len(j.log.shown))
			}
			j.log.pinned = !j.log.pinned
		})},
		{Screen: name, Key: "W", Name: "wrap", Footer: 6, Guard: inLog, Help: "wrap long lines of the log, or truncate them", Do: doForJobScreen(func(j *Job) { j.log.wrap = !j.log.wrap })},
		{Screen: name, Key: "T", Name: "times", Footer: 7, Guard: inLog, Help: "show the time of each log line", Do: doForJobScreen(func(j *Job) { j.log.stamps = !j.log.stamps })},
		{Screen: name, Key: "&", Name: "only matches", Footer: 28, Guard: inSearchedLog, Help: "show only lines that match the search, with the surrounding lines", Do: doForJobScreen(func(j *Job) { j.log.onlyMatches = !j.log.onlyMatches })},
		{Screen: name, Key: "B", Name: "previous", Footer: 29, Guard: inLog, Help: "show the logs from before the last container restart, or the current logs", Do: screenapi.DoForScreen(func(j *Job, _ *screenapi.Context) []screenapi.Effect {
			j.previous = !j.previous
			return j.streamLogs()
		})},
		{Screen: name, Key: "ctrl+s", Name: "save", Footer: 30, Guard: aLine, Help: "save the shown log lines to a file", Do: screenapi.DoForScreen((*Job).saveLog)},
		{Screen: name, Key: "n", Name: "next match", Help: "go to the next line that matches the search", Footer: 8, Guard: searched, Do: find(true)},
		{Screen: name, Key: "N", Name: "match before", Help: "go to the previous line that matches the search", Footer: 9, Guard: searched, Do: find(false)},
	}
	rows := func(s screenapi.Screen) widget.Rows { return s.(*Job).activeRows() }
	own := slices.Collect(func(yield func(string) bool) {
		for _, key := range keys {
			if !yield(key.Key) {
				return
			}
		}
	})
	for _, key := range append(widget.RowKeys(name, rows), append(widget.MarkKeys(name, rows), widget.FirstRowKey(name, rows))...) {
		if !slices.Contains(own, key.Key) {
			keys = append(keys, key)
		}
	}
	return append(keys, jobactions.BindingsFor(name, func(_ *screenapi.Context, s screenapi.Screen) []*snapshot.Job {
		j := s.(*Job)
		if j.checkExists() != nil {
			return nil
		}
		return []*snapshot.Job{j.job}
	})...)
}
