package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/textformat"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/jobstatus"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// maxTold is the maximum number of nodes and victims in the text output; -o json prints all of them.
const maxTold = 10

func (o *options) printPlans(plans []*insightv1alpha1.Plan, objects []cli.FileObject) error {
	if o.out.IsMachineReadable() {
		all := make([]client.Object, len(plans))
		for i, p := range plans {
			all[i] = planForOutput(p)
		}
		return o.out.PrintObjects(o.f, all, true)
	}
	w := writer{program: o.f.Program, style: render.Style{Enabled: o.f.Streams.IsColored()}, width: o.f.Streams.Width, objects: objects, now: o.f.Now()}
	for _, p := range plans {
		for k := range p.Status.Answers {
			if a := &p.Status.Answers[k]; a.Kind == podKind.Kind && len(a.Problems) == 0 && w.plannedGroupOf(p.Namespace, a.Name) != "" {
				continue // the answer about its PodGroup covers it
			}
			if w.text.Len() > 0 {
				fmt.Fprintln(&w.text)
			}
			w.writeAnswer(p, &p.Status.Answers[k])
		}
	}
	return o.f.Streams.ShowPaged(w.text.Bytes())
}

// planForOutput returns a plan for output, named after its first answer and without the metadata that the server adds.
func planForOutput(p *insightv1alpha1.Plan) *insightv1alpha1.Plan {
	shown := &insightv1alpha1.Plan{Spec: p.Spec, Status: p.Status}
	shown.Namespace = p.Namespace
	if len(p.Status.Answers) > 0 {
		shown.Name = p.Status.Answers[0].Name
	}
	return shown
}

// writer writes answers as text.
type writer struct {
	text    bytes.Buffer
	program string
	style   render.Style
	width   int
	objects []cli.FileObject
	now     time.Time
}

// writeAnswer writes one answer: the verdict, the explanation, and the numbers.
func (w *writer) writeAnswer(p *insightv1alpha1.Plan, a *insightv1alpha1.Answer) {
	for _, warning := range a.Warnings {
		defer jobstatus.WriteFacts(&w.text, []jobstatus.Fact{{Name: "warning", Text: warning}}, w.style, w.width)
	}
	if a.Kind == "Queue" {
		w.writeQueue(p, a)
		return
	}
	fmt.Fprintln(&w.text, w.style.Bold(answerHeadline(p, a)))
	if e := a.Explanation; e != nil && e.Message != "" && a.Verdict != insightv1alpha1.VerdictStarts {
		jobstatus.WriteSentence(&w.text, e.Message, w.width)
	} else if isUnexplained(a) {
		jobstatus.WriteSentence(&w.text, unexplainedText(a), w.width)
	}
	w.writeProblems(a)
	jobstatus.WriteFacts(&w.text, []jobstatus.Fact{
		{Name: "pods", Text: podsText(a)},
		{Name: "nodes", Text: placementsText(a.Placements)},
	}, w.style, w.width)
	w.writeVictims(a.Victims, a.VictimCount)
	if a.Explanation != nil && a.Verdict != insightv1alpha1.VerdictStarts {
		jobstatus.WriteExplanation(&w.text, a.Explanation, w.program, w.style, w.now, w.width)
	}
}

// unexplainedText returns the reason why an object without an explanation would not start. The sentence about missing
// pods does not state that the object would wait, because the headline already does.
func unexplainedText(a *insightv1alpha1.Answer) string {
	isGroup := a.Kind != "Job" && a.Verdict == insightv1alpha1.VerdictWaits
	if isGroup && a.Pods < a.MinMember {
		return fmt.Sprintf("%d pods must start together, but the plan contains only %d", a.MinMember, a.Pods)
	}
	return a.Message
}

// isUnexplained reports whether only the answer's message explains why an object would not start.
func isUnexplained(a *insightv1alpha1.Answer) bool {
	waits := a.Pods == 0 || a.Verdict == insightv1alpha1.VerdictWaits
	return waits && a.Explanation == nil && len(a.Problems) == 0
}

// answerHeadline returns the verdict for an object, for example "nlp/train would wait: GangDoesNotFit".
func answerHeadline(p *insightv1alpha1.Plan, a *insightv1alpha1.Answer) string {
	text := p.Namespace + "/" + a.Name
	switch a.Verdict {
	case insightv1alpha1.VerdictStarts:
		later := slices.ContainsFunc(a.Placements, func(p insightv1alpha1.Placement) bool { return p.Later })
		switch {
		case a.VictimCount > 0:
			return fmt.Sprintf("%s would start after %s evicted for it", text, evictionCountText(int(a.VictimCount)))
		case later:
			return text + " would start after terminating pods have ended"
		}
		return text + " would start now"
	case insightv1alpha1.VerdictNever:
		text += " can never start with its current request"
		if len(a.Problems) > 0 {
			return p.Namespace + "/" + a.Name + " would be rejected"
		}
	default:
		text += " would wait"
	}
	if a.Explanation != nil {
		text += ": " + a.Explanation.Reason
	}
	return text
}

func evictionCountText(n int) string {
	if n == 1 {
		return "1 pod has been"
	}
	return fmt.Sprintf("%d pods have been", n)
}

// writeProblems writes the validation errors of admission and their positions in the file.
func (w *writer) writeProblems(a *insightv1alpha1.Answer) {
	for _, problem := range a.Problems {
		text := strings.TrimPrefix(problem.Field+": "+problem.Message, ": ")
		for _, object := range w.objects {
			if object.Source == "" || object.Object.GetKind() != a.Kind || object.Object.GetName() != a.Name {
				continue
			}
			if human := cli.HumanizeError(cli.AddFilePosition(usererror.Errorf("", "%s", text), object, problem.Field), cli.Connection{}); human.At != "" {
				text += " (" + human.At + ")"
			}
			break
		}
		jobstatus.WriteFacts(&w.text, []jobstatus.Fact{{Name: "problem", Text: text}}, w.style, w.width)
	}
}

func podsText(a *insightv1alpha1.Answer) string {
	if a.Pods == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d would be assigned to a node", a.Starting, a.Pods)
	if a.MinMember > 1 {
		text += fmt.Sprintf("; %d must start together", a.MinMember)
	}
	return text
}

// placementsText lists the nodes and the tasks placed there, starting with the nodes that have the most pods.
func placementsText(places []insightv1alpha1.Placement) string {
	sorted := slices.Clone(places)
	slices.SortStableFunc(sorted, func(a, b insightv1alpha1.Placement) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), cmp.Compare(a.Node, b.Node))
	})
	var nodes []string
	on := map[string][]string{}
	for _, p := range sorted {
		text := textformat.CountWithNoun(int(p.Pods), "pod")
		if p.Task != "" {
			text = fmt.Sprintf("%d %s", p.Pods, p.Task)
		}
		if p.Later {
			text += " (later)"
		}
		if on[p.Node] == nil {
			nodes = append(nodes, p.Node)
		}
		on[p.Node] = append(on[p.Node], text)
	}
	parts := make([]string, min(len(nodes), maxTold))
	for i := range parts {
		parts[i] = nodes[i] + ": " + strings.Join(on[nodes[i]], ", ")
	}
	if more := len(nodes) - maxTold; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more (-o yaml shows all)", more))
	}
	return strings.Join(parts, "; ")
}

// writeVictims writes which pods would be evicted, grouped by job, with queue and reason.
func (w *writer) writeVictims(victims []insightv1alpha1.Victim, all int32) {
	if all == 0 {
		return
	}
	groups := groupVictims(victims)
	for i, g := range groups {
		if i == maxTold {
			jobstatus.WriteFacts(&w.text, []jobstatus.Fact{{Name: "evicts", Text: fmt.Sprintf("and pods of %d more (-o yaml shows all)", len(groups)-maxTold)}}, w.style, w.width)
			return
		}
		jobstatus.WriteFacts(&w.text, []jobstatus.Fact{{Name: "evicts", Text: g.groupText()}}, w.style, w.width)
	}
}

// victimGroup holds the victims of one job.
type victimGroup struct {
	first insightv1alpha1.Victim
	pods  []string
}

func groupVictims(victims []insightv1alpha1.Victim) []*victimGroup {
	var groups []*victimGroup
	by := map[string]*victimGroup{}
	for _, v := range victims {
		key := v.Namespace + "/" + cmp.Or(v.Job, v.Pod)
		g := by[key]
		if g == nil {
			g = &victimGroup{first: v}
			by[key] = g
			groups = append(groups, g)
		}
		g.pods = append(g.pods, v.Pod)
	}
	return groups
}

func (g *victimGroup) groupText() string {
	v := &g.first
	text := v.Namespace + "/" + v.Pod
	if v.Job != "" {
		text = fmt.Sprintf("%d of %s/%s", len(g.pods), v.Namespace, v.Job)
	}
	if v.Queue != "" {
		text += " in queue " + v.Queue
	}
	if v.Message != "" {
		return text + ": " + v.Message
	}
	return text + " (" + v.Reason + ")"
}

// writeQueue writes the effects of changing a queue.
func (w *writer) writeQueue(p *insightv1alpha1.Plan, a *insightv1alpha1.Answer) {
	headline := "queue " + a.Name
	if a.Verdict == insightv1alpha1.VerdictNever {
		fmt.Fprintln(&w.text, w.style.Bold(headline+" would be rejected"))
		w.writeProblems(a)
		return
	}
	fmt.Fprintln(&w.text, w.style.Bold(headline))
	jobstatus.WriteSentence(&w.text, a.Message, w.width)
	for i, s := range p.Status.Starts {
		if i == maxTold {
			jobstatus.WriteFacts(&w.text, []jobstatus.Fact{{Name: "starts", Text: fmt.Sprintf("and %d more (-o yaml shows all)", len(p.Status.Starts)-maxTold)}}, w.style, w.width)
			break
		}
		text := fmt.Sprintf("%s/%s with %s", s.Namespace, s.Name, textformat.CountWithNoun(int(s.Pods), "pod"))
		if s.Queue != "" {
			text += " in queue " + s.Queue
		}
		jobstatus.WriteFacts(&w.text, []jobstatus.Fact{{Name: "starts", Text: text}}, w.style, w.width)
	}
	w.writeVictims(p.Status.Victims, p.Status.VictimCount)
}
