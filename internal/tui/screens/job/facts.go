package job

import (
	"cmp"
	"fmt"
	"strings"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/usecolumn"
)

// listJobFacts returns the lines of the job's box.
func listJobFacts(ctx *screenapi.Context, job *snapshot.Job) []jobstatus.Fact {
	all := []jobstatus.Fact{
		{Name: "State", Text: stateText(ctx, job)},
		{Name: "Queue", Text: fmt.Sprintf("%-14s Priority %s%s", job.Queue, job.PriorityText(), inParentheses(job.PriorityClass))},
		{Name: "User", Text: fmt.Sprintf("%-14s Submitted %s%s", cmp.Or(job.User, "-"), jobrow.FormatMoment(job.Submitted, ctx.Now), titleSuffix(job))},
		{Name: "Request", Text: requestText(job)},
	}
	if used := usedText(ctx, job); used != "" {
		all = append(all, jobstatus.Fact{Name: "Used", Text: used})
	}
	all = append(all,
		jobstatus.Fact{Name: "Gang", Text: fmt.Sprintf("%-14s Restarts %s", fmt.Sprintf("%d of %d", job.Min, job.Replicas), jobstatus.RestartsText(job.Object))},
		jobstatus.Fact{Name: "Limit", Text: fmt.Sprintf("%-14s Plugins %s", timeLimitText(job), cmp.Or(strings.Join(jobstatus.PluginNames(job.Object), " "), "none"))},
	)
	if depends := job.Object.Annotations[keys.Dependency]; depends != "" {
		all = append(all, jobstatus.Fact{Name: "Depends", Text: depends})
	}
	if array := jobstatus.ArrayText(job.Object); array != "" {
		all = append(all, jobstatus.Fact{Name: "Array", Text: array})
	}
	if policies := policiesText(job.Object); policies != "" {
		all = append(all, jobstatus.Fact{Name: "Policy", Text: policies})
	}
	if says := shortReason(job); says != "" {
		all = append(all, jobstatus.Fact{Name: "Why", Text: says})
	}
	return all
}

// usedText describes the measured use of the job's pods, or returns "".
func usedText(ctx *screenapi.Context, job *snapshot.Job) string {
	usage := ctx.Snap.Usage
	var requested snapshot.Amounts
	for _, p := range job.Pods {
		if p.Asks != nil && usage.OfPod(p).Core != nil {
			requested.Add(*p.Asks, 1)
		}
	}
	return usecolumn.DescribeUse(usage.OfPods(job.Pods), requested.MilliCPU, requested.MemoryBytes)
}

func inParentheses(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func titleSuffix(job *snapshot.Job) string {
	if job.Title == "" || job.Title == job.Name {
		return ""
	}
	return " as " + job.Title
}

// stateText returns the job's phase and that of its PodGroup; in Slurm's words, Slurm's state comes first.
func stateText(ctx *screenapi.Context, job *snapshot.Job) string {
	group := ""
	if job.Group != nil && job.Group.Status.Phase != "" {
		group = "PodGroup " + string(job.Group.Status.Phase)
	}
	if ctx.Words == screenapi.SlurmWords {
		return state.Code(job.State).LongName() + " (" + strings.TrimSuffix("Job "+string(job.Phase)+", "+group, ", ") + ")"
	}
	return string(job.Phase) + inParentheses(group)
}

// longState returns the state of a job in one word.
func longState(ctx *screenapi.Context, job *snapshot.Job) string {
	if ctx.Words == screenapi.SlurmWords {
		return state.Code(job.State).LongName()
	}
	return string(job.Phase)
}

// shortReason returns a short form of the reason why the job waits or has ended.
func shortReason(job *snapshot.Job) string { return job.ReasonNotRunning().CodeAndMessage() }

// requestText returns the resources that the job requests, as shown by `vcctl job explain`.
func requestText(job *snapshot.Job) string {
	return jobstatus.DescribeRequest(job.Object)
}

func timeLimitText(job *snapshot.Job) string {
	if job.Limit == 0 {
		return "none"
	}
	return state.ShortClock(job.Limit)
}

// policiesText returns the job's reactions to events, for example "head TaskCompleted -> CompleteJob".
func policiesText(job *batchv1alpha1.Job) string {
	var parts []string
	add := func(whose string, all []batchv1alpha1.LifecyclePolicy) {
		for i := range all {
			p := &all[i]
			when := string(p.Event)
			for _, event := range p.Events {
				when = strings.Trim(when+","+string(event), ",")
			}
			if p.ExitCode != nil {
				when = strings.Trim(fmt.Sprintf("%s exit %d", when, *p.ExitCode), " ")
			}
			parts = append(parts, strings.TrimSpace(whose+" "+when+" -> "+string(p.Action)))
		}
	}
	add("", job.Spec.Policies)
	for i := range job.Spec.Tasks {
		add(job.Spec.Tasks[i].Name, job.Spec.Tasks[i].Policies)
	}
	return strings.Join(parts, "; ")
}

// line is a line of the timeline: the time, the event, and the time since submission.
type line struct{ at, text, after string }

func timelineLines(ctx *screenapi.Context, job *snapshot.Job) []line {
	var lines []line
	for _, s := range jobTimeline(job) {
		at := s.at.In(ctx.Now.Location())
		format := "15:04:05"
		if ctx.Now.Sub(at) > 20*60*60*1e9 {
			format = "Jan 2 15:04"
		}
		lines = append(lines, line{at.Format(format), s.text, formatOffset(job.Submitted, s.at)})
	}
	for i, text := range expectedEvents(job, ctx.Now) {
		one := line{at: "", text: text}
		if i == 0 && len(job.Pods) > 0 {
			one.after = "now"
		}
		lines = append(lines, one)
	}
	return lines
}

func drawTimeline(c canvas.Canvas, lines []line) {
	cut := max(len(lines)-c.H, 0) // the oldest lines except the first are omitted
	for y, l := range lines {
		switch {
		case cut == 0 || y == 0:
		case y <= cut:
			continue
		default:
			y -= cut
		}
		c.Put(0, y, l.at, theme.Dim)
		room := c.W - 13
		if l.after != "" {
			room -= len(l.after) + 1
		}
		c.Fit(13, y, room, l.text, theme.Plain)
		c.PutRight(c.W, y, l.after, theme.Dim)
	}
}

// briefFacts returns the same facts in a few lines, for small terminals.
func briefFacts(ctx *screenapi.Context, job *snapshot.Job) []string {
	first := fmt.Sprintf("%s %d/%d running", longState(ctx, job), job.Running, job.Replicas)
	if job.Waiting > 0 {
		first += fmt.Sprintf(", %d waiting", job.Waiting)
	}
	if job.Failed > 0 {
		first += fmt.Sprintf(", %d failed", job.Failed)
	}
	first += fmt.Sprintf("   queue %s  prio %s  user %s", job.Queue, job.PriorityText(), cmp.Or(job.User, "-"))
	lines := []string{first}
	if says := shortReason(job); says != "" {
		lines = append(lines, says)
	}
	restarts, most := job.Object.PolicyRestarts()
	second := fmt.Sprintf("gang %d/%d   limit %s   restarts %d/%d", job.Min, job.Replicas, timeLimitText(job), restarts, most)
	if policies := policiesText(job.Object); policies != "" {
		second += "   policy " + policies
	}
	lines = append(lines, second)
	var way []string
	for i, s := range jobTimeline(job) {
		if i == 0 {
			way = append(way, s.at.In(ctx.Now.Location()).Format("15:04:05")+" "+s.text)
			continue
		}
		way = append(way, strings.TrimSpace(formatOffset(job.Submitted, s.at)+" "+s.text))
	}
	return append(lines, strings.Join(append(way, expectedEvents(job, ctx.Now)...), " - "))
}
