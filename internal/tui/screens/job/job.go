package job

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/explain"
	"github.com/vc-batch/vc/internal/tui/usecolumn"
	"github.com/vc-batch/vc/internal/tui/widget"
)

// page is a page of the screen.
type page int

const (
	summary page = iota
	podList
	events
	logs
	manifest
)

// pages lists the tabs in order. The last two open a separate screen.
var pages = []struct {
	key, title string
	page       page
}{{"s", "summary", summary}, {"P", "pods", podList}, {"e", "events", events}, {"l", "logs", logs}, {"Y", "yaml", manifest}, {"t", "tree", -1}, {"w", "why", -1}}

// Job is the screen.
type Job struct {
	target string
	uid    types.UID
	page   page
	opened page // page on which the screen was opened
	inLogs bool // on the summary, keys go to the logs instead of the pods
	failed bool // only failed pods are shown
	// previous is true if the logs of the containers before their last restart are shown.
	previous bool

	job     *snapshot.Job // last known state
	gone    bool
	pods    widget.Table[pod]
	filter  string // for the pods
	log     logPane
	lines   widget.Pager // for events and yaml
	yaml    string
	asked   bool
	reading jobrow.Reading
	// only holds the pods whose logs were requested; if nil, all logs were requested.
	only map[string]bool
	// followed lists the pods whose logs are streamed, by container.
	followed []screenapi.PodRef
}

// New returns the screen for the job with the specified UID. If the UID is followed by "#logs", the screen shows the
// logs; if it is followed by "#logs/" and the name of a pod, the log of that pod.
func New(target string) screenapi.Screen {
	uid, what, _ := strings.Cut(target, "#")
	j := &Job{target: target, uid: types.UID(uid), pods: newPodTable(), log: logPane{pinned: true, found: beforeAll}}
	if shown, podName, isOnePod := strings.Cut(what, "/"); shown == "logs" {
		j.page, j.opened = logs, logs
		if isOnePod {
			j.only = map[string]bool{podName: true}
		}
	}
	return j
}

// Name returns the screen's name in the table of keys.
func (j *Job) Name() string { return screenapi.Job }

// Target returns the target that the screen was opened with.
func (j *Job) Target() string { return j.target }

// Selection returns the job.
func (j *Job) Selection() (object screenapi.Selection, ok bool) {
	if j.job == nil {
		return object, false
	}
	return screenapi.Selection{Kind: "job", Namespace: j.job.Namespace, Name: j.job.Name}, true
}

// Crumb returns the job's number and name, or only "job" if the path already contains them.
func (j *Job) Crumb(*screenapi.Context) string {
	if j.job == nil || strings.HasSuffix(j.target, explain.AsJob) {
		return "job"
	}
	return strings.TrimSpace(j.job.ID + " " + j.job.Name)
}

// Note says that the job was deleted if that is the case.
func (j *Job) Note(*screenapi.Context) string {
	if j.gone {
		return "the job was deleted"
	}
	return ""
}

// Tabs returns the pages.
func (j *Job) Tabs(*screenapi.Context) []screenapi.Tab {
	tabs := make([]screenapi.Tab, len(pages))
	for i, p := range pages {
		tabs[i] = screenapi.Tab{Key: p.key, Title: p.title, Open: p.page == j.page}
	}
	return tabs
}

// Update handles an event.
func (j *Job) Update(ctx *screenapi.Context, event screenapi.Event) []screenapi.Effect {
	switch event := event.(type) {
	case screenapi.Refresh, screenapi.Entered:
		j.refreshJob(ctx)
		return append(j.streamLogs(), j.reading.RequestIfChanged(ctx, j.job)...)
	case screenapi.Left:
		j.followed = nil
		return []screenapi.Effect{screenapi.StopLogs{}}
	case screenapi.Done:
		j.storeManifest(event)
		return j.reading.StoreResult(ctx, event, j.job)
	case screenapi.Mouse:
		j.handleMouse(ctx, event)
	}
	return nil
}

func (j *Job) refreshJob(ctx *screenapi.Context) {
	if now := ctx.Snap.Job(j.uid); now != nil {
		j.job, j.gone = now, false
	} else {
		j.gone = j.job != nil
	}
	j.selectPods(ctx)
}

// selectPods selects the pods to show.
func (j *Job) selectPods(ctx *screenapi.Context) {
	if j.job == nil {
		return
	}
	var shown []pod
	wanted := strings.ToLower(j.filter)
	for _, p := range j.job.Pods {
		if j.failed && !hasPodProblem(p) {
			continue
		}
		if strings.Contains(strings.ToLower(p.Name+" "+p.Node+" "+p.State), wanted) {
			shown = append(shown, p)
		}
	}
	usecolumn.AdaptColumns(j.pods.Columns, ctx.Snap.Usage, (*snapshot.Usage).OfPod)
	j.pods.SetRows(ctx, shown, !j.failed && wanted == "")
}

// streamLogs requests the logs of all started pods if the set of these pods has changed.
func (j *Job) streamLogs() []screenapi.Effect {
	if j.job == nil {
		return nil
	}
	var wanted []screenapi.PodRef
	for _, p := range j.job.Pods {
		hasStarted := p.Exited || !p.Started.IsZero()
		isChosen := j.only == nil || j.only[p.Name]
		if hasStarted && isChosen && len(wanted) < maxStreams {
			wanted = append(wanted, screenapi.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Previous: j.previous})
		}
	}
	if slices.Equal(wanted, j.followed) {
		return nil
	}
	j.followed = wanted
	return []screenapi.Effect{screenapi.StreamLogs{Pods: wanted}}
}

// podSelector returns a function that selects the pods whose lines are shown; nil selects all pods.
func (j *Job) podSelector() func(string) bool {
	if !j.failed {
		return nil
	}
	failed := map[string]bool{}
	for _, p := range j.job.Pods {
		failed[p.Name] = hasPodProblem(p)
	}
	return func(name string) bool { return failed[name] }
}

// fetchManifest requests the object in text form.
func (j *Job) fetchManifest(ctx *screenapi.Context) []screenapi.Effect {
	if ctx.Actions == nil || j.job == nil {
		return nil
	}
	j.asked = true
	get, namespace, name := ctx.Actions.Manifest, j.job.Namespace, j.job.Name
	return []screenapi.Effect{widget.FetchText(manifestName, get, "Job", namespace, name)}
}

const manifestName = "read the job"

func (j *Job) storeManifest(done screenapi.Done) {
	if done.Name != manifestName {
		return
	}
	j.yaml, _ = done.Value.(string)
	if done.Err != nil {
		j.yaml = ""
		j.asked = false
	}
}

// SetFilter filters the pods. On the logs page, it searches the logs instead, and on the yaml and events pages, it
// searches the lines.
func (j *Job) SetFilter(ctx *screenapi.Context, text string) error {
	switch {
	case j.searchesLogs():
		j.log.search, j.log.found = text, behindAll
		if text == "" {
			j.log.onlyMatches = false
		}
		if text != "" && j.job != nil {
			j.log.selectLines(ctx.Logs, j.podSelector())
			j.log.MoveToMatch(false)
		}
	case j.page == summary || j.page == podList:
		j.filter = text
		j.selectPods(ctx)
	default:
		j.lines.Search = text
		j.lines.MoveToMatch(true)
	}
	return nil
}

// searchesLogs reports whether a search applies to the logs.
func (j *Job) searchesLogs() bool { return j.page == logs || (j.page == summary && j.inLogs) }

// Matches returns the number of matching rows or lines, and the total number.
func (j *Job) Matches(*screenapi.Context) (shown, all int) {
	switch {
	case j.job == nil:
		return 0, 0
	case j.searchesLogs():
		return j.log.countMatches(), len(j.log.shown)
	case j.page == summary || j.page == podList:
		return len(j.pods.Rows()), len(j.job.Pods)
	}
	return j.lines.CountMatches(), j.lines.LineCount()
}

// moveToNextMatch moves to the next match of a search.
func (j *Job) moveToNextMatch(ctx *screenapi.Context, down bool) []screenapi.Effect {
	if j.searchesLogs() {
		return widget.MoveToMatchOrNotice(&j.log, down)
	}
	return widget.MoveToMatchOrNotice(&j.lines, down)
}

// Escape clears marks. If none exist, it returns from a page to the page on which the screen was opened. It does
// nothing if the page has a filter or a search, which is cleared first.
func (j *Job) Escape() bool {
	if j.page == podList || j.page == summary {
		if j.pods.Escape() {
			return true
		}
	}
	hasFilter := j.filter != "" || j.log.search != "" || j.lines.Search != ""
	if hasFilter || j.page == summary || j.page == j.opened {
		return false
	}
	j.page, j.lines = j.opened, widget.NewPager()
	return true
}

// activeRows returns the table or text to which the movement keys apply.
func (j *Job) activeRows() widget.Rows {
	switch {
	case j.page == logs, j.page == summary && j.inLogs:
		return &j.log
	case j.page == summary, j.page == podList:
		return &j.pods
	}
	return &j.lines
}

func (j *Job) handleMouse(ctx *screenapi.Context, m screenapi.Mouse) {
	if j.page == summary {
		if taken, _ := j.log.Mouse(ctx, m); taken {
			j.inLogs = true
			return
		}
		if taken, _ := j.pods.Mouse(ctx, m); taken {
			j.inLogs = false
		}
		return
	}
	j.activeRows().Mouse(ctx, m)
}

// showPage opens a page.
func (j *Job) showPage(to page) func(*Job, *screenapi.Context) []screenapi.Effect {
	return func(j *Job, ctx *screenapi.Context) []screenapi.Effect {
		j.page = to
		effects := j.clearFilter(ctx)
		if to == logs && j.only != nil {
			j.only = nil
			return append(effects, j.streamLogs()...)
		}
		if to == manifest {
			return append(effects, j.fetchManifest(ctx)...)
		}
		return effects
	}
}

// clearFilter clears the filter or the search of the previous page.
func (j *Job) clearFilter(ctx *screenapi.Context) []screenapi.Effect {
	typed := j.filter != "" || j.log.search != "" || j.lines.Search != ""
	j.filter, j.log.search, j.log.onlyMatches, j.lines = "", "", false, widget.NewPager()
	j.selectPods(ctx)
	if !typed {
		return nil
	}
	return []screenapi.Effect{screenapi.SetFilter{}}
}

// openPodLogs shows the logs of the marked pods, or of the pod under the cursor if none is marked.
func (j *Job) openPodLogs(ctx *screenapi.Context) []screenapi.Effect {
	j.only = map[string]bool{}
	for _, p := range j.pods.Targets() {
		j.only[p.Name] = true
	}
	j.page = logs
	return append(j.clearFilter(ctx), j.streamLogs()...)
}

// openPodShell opens a shell in the pod under the cursor.
func (j *Job) openPodShell(ctx *screenapi.Context) []screenapi.Effect {
	p, ok := j.pods.Selected()
	if !ok || ctx.Actions == nil {
		return nil
	}
	return []screenapi.Effect{widget.OpenShell(ctx.Actions, p)}
}

// attachRefusal returns the reason why no shell can be opened, or "".
func (j *Job) attachRefusal(*screenapi.Context) string {
	p, ok := j.pods.Selected()
	switch {
	case !ok:
		return "no pod is selected"
	case p.Exited:
		return p.Name + " has ended"
	case p.Started.IsZero():
		return p.Name + " has not started"
	}
	return ""
}

var errNoJob = errors.New("no job")

// checkExists returns an error if no action on the job is possible because the job does not exist.
func (j *Job) checkExists() error {
	if j.job == nil || j.gone {
		return errNoJob
	}
	return nil
}

// describeStreams describes the pods whose logs are being followed.
func (j *Job) describeStreams() string {
	streams := j.describeFollowedPods()
	if j.previous {
		streams += ", before the last restart"
	}
	return streams
}

func (j *Job) describeFollowedPods() string {
	switch {
	case len(j.followed) == 0:
		return "no pods with logs"
	case len(j.only) == 1:
		return podShortName(j.job, j.followed[0].Name)
	case len(j.only) > maxStreams:
		return fmt.Sprintf("%d of %d marked pods (limit reached)", len(j.followed), len(j.only))
	case j.only != nil:
		return fmt.Sprintf("%d marked pods", len(j.followed))
	case len(j.followed) == maxStreams && len(j.job.Pods) > maxStreams:
		return fmt.Sprintf("%d of %d pods (space marks pods, enter shows them)", maxStreams, len(j.job.Pods))
	}
	return "all pods"
}
