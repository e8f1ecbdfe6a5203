package explain

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobactions"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// Explain is the screen.
type Explain struct {
	target string
	uid    types.UID
	job    *snapshot.Job
	gone   bool
	report *jobstatus.Report
	read   jobrow.Reading
	nodes  widget.Table[group]
}

// Below is appended to the UID in the target if the job's own screen is below this one.
const Below = "#below"

// AsJob is appended to the UID in the target of the job's own screen if that screen is opened from this one, because
// the path then already contains the job's name.
const AsJob = "#job"

// New returns the screen for the job with the specified UID; if empty, it is the first waiting job.
func New(target string) screenapi.Screen {
	return &Explain{target: target, uid: types.UID(strings.TrimSuffix(target, Below)), nodes: newGroupTable()}
}

// ScreenSpec returns the description of the screen.
func ScreenSpec() screenapi.Spec {
	return screenapi.Spec{Name: screenapi.Explain, Tab: "Explain", ShortTab: "Explain", Number: "5", New: New, Keys: keyBindings()}
}

// Name returns the screen's name in the table of keys.
func (e *Explain) Name() string { return screenapi.Explain }

// Target returns the target that the screen was opened with.
func (e *Explain) Target() string { return e.target }

// Selection returns the job.
func (e *Explain) Selection() (object screenapi.Selection, ok bool) {
	if e.job == nil {
		return object, false
	}
	return screenapi.Selection{Kind: "job", Namespace: e.job.Namespace, Name: e.job.Name}, true
}

// Crumb returns "Why", preceded by the job's name if the path does not contain the name yet.
func (e *Explain) Crumb(*screenapi.Context) string {
	if e.job == nil || strings.HasSuffix(e.target, Below) {
		return "Why"
	}
	return strings.TrimSpace(e.job.ID+" "+e.job.Name) + " > Why"
}

// Note returns the number of waiting jobs, which are either pending in their queues or held.
func (e *Explain) Note(ctx *screenapi.Context) string {
	if e.gone {
		return "the job was deleted"
	}
	var t jobrow.Tally
	for _, job := range waitingJobs(ctx) {
		t.Add(jobrow.Row{Job: job})
	}
	switch {
	case t.Held > 0:
		return widget.FormatCount(t.Pending) + " pending, " + widget.FormatCount(t.Held) + " held (n next)"
	case t.Pending > 0:
		return widget.FormatCount(t.Pending) + " pending (n next)"
	}
	return ""
}

// Update handles an event.
func (e *Explain) Update(ctx *screenapi.Context, event screenapi.Event) []screenapi.Effect {
	switch event := event.(type) {
	case screenapi.Refresh, screenapi.Entered:
		e.refreshJob(ctx)
		return e.requestData(ctx)
	case screenapi.Done:
		effects := e.read.StoreResult(ctx, event, e.job)
		e.refreshJob(ctx)
		return effects
	case screenapi.Mouse:
		if _, open := e.nodes.Mouse(ctx, event); open {
			return e.openRejectingNodes(ctx)
		}
	}
	return nil
}

func (e *Explain) refreshJob(ctx *screenapi.Context) {
	if e.uid == "" || (e.target == "" && ctx.Snap.Job(e.uid) == nil) {
		e.uid = ""
		if all := waitingJobs(ctx); len(all) > 0 {
			e.uid = all[0].UID
		}
	}
	now := ctx.Snap.Job(e.uid)
	e.gone = now == nil && e.job != nil && e.target != ""
	if now != nil || e.target == "" {
		e.job = now
	}
	e.report = nil
	if e.job == nil {
		return
	}
	e.report = e.read.ReportFor(ctx.Snap, e.job)
	e.report.Zone = ctx.Now.Location() // use the same time zone in the whole frame
	e.nodes.SetRows(ctx, groupsFromExplanation(ctx.Snap, e.job, e.report.Explanation()), false)
}

// requestData requests pods and events if the explanation depends on them. `vcctl job explain` uses the same rule.
func (e *Explain) requestData(ctx *screenapi.Context) []screenapi.Effect {
	if e.job == nil {
		return nil
	}
	if _, enough := jobstatus.NewReportWithoutPods(&e.report.Sheet); enough {
		return nil
	}
	return e.read.RequestIfChanged(ctx, e.job)
}

// waitingJobs returns the pending and held jobs. The user's own jobs come first; otherwise, they are in the same order
// as on the screen Jobs.
func waitingJobs(ctx *screenapi.Context) []*snapshot.Job {
	return snapshot.CachedValue(ctx.Snap, waitingOf{ctx.Namespace, ctx.User, ctx.Mine}, func() []*snapshot.Job { return collectWaiting(ctx) })
}

// waitingOf is the cache key of waiting.
type waitingOf struct {
	namespace, user string
	mine            bool
}

func collectWaiting(ctx *screenapi.Context) []*snapshot.Job {
	var all []*snapshot.Job
	for _, job := range jobrow.JobsToShow(ctx, ctx.Snap.Jobs) {
		if row := (jobrow.Row{Job: job}); row.IsQueued() {
			all = append(all, job)
		}
	}
	slices.SortStableFunc(all, func(a, b *snapshot.Job) int {
		return cmp.Or(ownJobsFirst(ctx, a)-ownJobsFirst(ctx, b), jobrow.CompareDefault(jobrow.Row{Job: a}, jobrow.Row{Job: b}))
	})
	return all
}

func ownJobsFirst(ctx *screenapi.Context, job *snapshot.Job) int {
	if ctx.User != "" && job.User == ctx.User {
		return 0
	}
	return 1
}

// openNextJob switches to the next waiting job.
func (e *Explain) openNextJob(ctx *screenapi.Context, way int) []screenapi.Effect {
	all := waitingJobs(ctx)
	if len(all) == 0 {
		return []screenapi.Effect{screenapi.Notice{Text: "no jobs are waiting"}}
	}
	at := slices.IndexFunc(all, func(job *snapshot.Job) bool { return job.UID == e.uid })
	switch {
	case at >= 0:
		at = (at + way + len(all)) % len(all)
	default:
		at = 0
	}
	e.uid = all[at].UID
	e.target = string(e.uid)
	e.nodes.Home()
	e.refreshJob(ctx)
	return e.requestData(ctx)
}

// openRejectingNodes shows the nodes that reject the job for the reason under the cursor.
func (e *Explain) openRejectingNodes(*screenapi.Context) []screenapi.Effect {
	row, ok := e.nodes.Selected()
	if !ok {
		return nil
	}
	if len(row.nodes) == 0 {
		return []screenapi.Effect{screenapi.Notice{Text: "the names of these nodes are unknown: " + row.reason}}
	}
	return []screenapi.Effect{screenapi.Open{Screen: screenapi.Nodes, Filter: "name=" + strings.Join(row.nodes, ",")}}
}

// Twin returns the output of `vcctl job explain`.
func (e *Explain) Twin(ctx *screenapi.Context) string {
	if e.report == nil {
		return ""
	}
	var text strings.Builder
	plain := *e.report
	plain.Zone = nil
	plain.Write(&text, ctx.Program, render.Style{}, ctx.Now, 0)
	return text.String()
}

func keyBindings() []screenapi.Binding {
	name := screenapi.Explain
	aJob := screenapi.GuardForScreen(func(e *Explain, _ *screenapi.Context) string {
		if e.job == nil {
			return "no jobs are waiting"
		}
		return ""
	})
	aRow := screenapi.GuardForScreen(func(e *Explain, _ *screenapi.Context) string {
		if _, ok := e.nodes.Selected(); !ok {
			return "no nodes are listed here"
		}
		return ""
	})
	keys := []screenapi.Binding{
		{Screen: name, Key: "n", Name: "next job", Help: "go to the next waiting job, your own jobs first", Footer: 4, Do: screenapi.DoForScreen(func(e *Explain, ctx *screenapi.Context) []screenapi.Effect { return e.openNextJob(ctx, 1) })},
		{Screen: name, Key: "N", Name: "job before", Help: "go to the previous waiting job", Do: screenapi.DoForScreen(func(e *Explain, ctx *screenapi.Context) []screenapi.Effect { return e.openNextJob(ctx, -1) })},
		{Screen: name, Key: "enter", Name: "nodes", Help: "show the nodes with the reason under the cursor, if known", Footer: 5, Guard: aRow, Do: screenapi.DoForScreen((*Explain).openRejectingNodes)},
		{Screen: name, Key: "o", Name: "job", Help: "open the job with its pods, logs and events", Footer: 6, Guard: aJob, Do: screenapi.DoForScreen(func(e *Explain, _ *screenapi.Context) []screenapi.Effect {
			target := string(e.uid)
			if !strings.HasSuffix(e.target, Below) { // otherwise, Back returns to the job's screen
				target += AsJob
			}
			return []screenapi.Effect{screenapi.Open{Screen: screenapi.Job, Target: target}}
		})},
	}
	rows := func(s screenapi.Screen) widget.Rows { return &s.(*Explain).nodes }
	rowKeys := append(widget.RowKeys(name, rows), widget.FirstRowKey(name, rows))
	keys = append(keys, slices.DeleteFunc(rowKeys, func(key screenapi.Binding) bool { return slices.Contains([]string{"s", "S", "c"}, key.Key) })...)
	return append(keys, jobactions.BindingsFor(name, func(_ *screenapi.Context, s screenapi.Screen) []*snapshot.Job {
		if e := s.(*Explain); e.job != nil && !e.gone {
			return []*snapshot.Job{e.job}
		}
		return nil
	})...)
}
