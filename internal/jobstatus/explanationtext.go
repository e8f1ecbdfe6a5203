package jobstatus

import (
	"fmt"
	"io"
	"strings"
	"time"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/render"
)

// Fact is one line of information about a job: a name and a text.
type Fact struct{ Name, Text string }

// nameWidth is the width of the column with the names of facts.
const nameWidth = 10

// WriteExplanation writes the numbers of a scheduler's explanation, its hint and the simulated changes, in the format
// of `job explain`.
func WriteExplanation(out io.Writer, e *schedulingv1beta1.Explanation, program string, style render.Style, now time.Time, width int) {
	var facts []Fact
	if e.Queue != nil {
		facts = append(facts, queueFacts(e.Queue)...)
	}
	for _, s := range e.Short {
		facts = append(facts, Fact{"short", shortageText(s)})
	}
	facts = append(facts, Fact{"nodes", nodesText(e)}, Fact{"evict", sparedText(e.Spared)}, Fact{"start", AddRelativeTimes(startText(e, nil), now)})
	WriteFacts(out, append(facts, Fact{"hint", render.ReplaceProgramName(e.Hint, program)}), style, width)
	if len(e.Helps) > 0 {
		fmt.Fprintln(out, "  any of these changes would help:")
	}
	for _, help := range e.Helps {
		render.WriteWrapped(out, "    - ", "      ", AddRelativeTimes(render.ReplaceProgramName(help.Text, program), now), width)
	}
}

// WriteFacts writes the facts with a non-empty text.
func WriteFacts(out io.Writer, facts []Fact, style render.Style, width int) {
	for _, f := range facts {
		if f.Text != "" {
			render.WriteWrapped(out, "  "+style.Dim(fmt.Sprintf("%-*s", nameWidth, f.Name)), strings.Repeat(" ", nameWidth+2), f.Text, width)
		}
	}
}

// WriteSentence writes a sentence below a headline.
func WriteSentence(out io.Writer, text string, width int) {
	render.WriteWrapped(out, "  ", "  ", text, width)
}

// Write writes the report in the format of `vcctl job explain`; program replaces vcctl in the commands that it
// mentions.
func (r *Report) Write(out io.Writer, program string, style render.Style, now time.Time, width int) {
	fmt.Fprintln(out, style.Bold(style.Line(r.Headline(style, now))))
	if r.Why.Message != "" {
		render.WriteWrapped(out, "  ", "  ", AddRelativeTimes(r.Why.Message, now), width)
	}
	for _, f := range r.Facts() {
		render.WriteWrapped(out, "  "+style.Dim(fmt.Sprintf("%-*s", nameWidth, f.Name)), strings.Repeat(" ", nameWidth+2), AddRelativeTimes(f.Text, now), width)
	}
	if r.Why.Hint != "" && r.Why.Code != "" {
		render.WriteWrapped(out, "  "+style.Dim(fmt.Sprintf("%-*s", nameWidth, "hint")), strings.Repeat(" ", nameWidth+2), render.ReplaceProgramName(r.Why.Hint, program), width)
	}
	if len(r.Why.Helps) > 0 {
		fmt.Fprintln(out, "  any of these changes would help:")
	}
	for _, help := range r.Why.Helps {
		render.WriteWrapped(out, "    - ", "      ", AddRelativeTimes(render.ReplaceProgramName(help, program), now), width)
	}
}
