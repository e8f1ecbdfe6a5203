package job

import (
	"fmt"
	"io"
	"strings"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/render"
)

// Fact is one line of what is told about a job: a name and a text.
type Fact struct{ Name, Text string }

// WriteExplanation writes the numbers of a scheduler's explanation, its hint and what would help, as `job explain` does.
func WriteExplanation(out io.Writer, e *schedulingv1beta1.Explanation, program string, style render.Style, width int) {
	var facts []Fact
	if e.Queue != nil {
		for _, f := range queueFacts(e.Queue) {
			facts = append(facts, Fact{f.name, f.text})
		}
	}
	for _, s := range e.Short {
		facts = append(facts, Fact{"short", shortText(s)})
	}
	facts = append(facts, Fact{"nodes", nodesText(e)}, Fact{"evict", sparedText(e.Spared)}, Fact{"start", startText(e)})
	asTyped := func(text string) string { return strings.ReplaceAll(text, "vcctl ", program+" ") }
	WriteFacts(out, append(facts, Fact{"hint", asTyped(e.Hint)}), style, width)
	if len(e.Helps) > 0 {
		fmt.Fprintln(out, "  would start now with:")
	}
	for _, help := range e.Helps {
		render.WriteWrapped(out, "    - ", "      ", asTyped(help.Text), width)
	}
}

// WriteFacts writes the facts that have a text.
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
