package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/render"
)

// Result is the result of a check.
type Result string

// The results of a check.
const (
	OK      Result = "ok"
	Warning Result = "warning"
	Failed  Result = "failed"
	Skipped Result = "skipped"
)

// Finding is one line of the report.
type Finding struct {
	Check  string `json:"check"`
	Result Result `json:"result"`
	// Found describes the finding, or the reason why the check was skipped.
	Found string `json:"found"`
	// Remedy describes what to do. It is empty if nothing needs to be done.
	Remedy string `json:"remedy,omitempty"`
}

// Report is the result of the command, in the form for -o json and -o yaml.
type Report struct {
	// Namespace is the namespace of the installation.
	Namespace string    `json:"namespace"`
	Findings  []Finding `json:"findings"`
	// Healthy is true if no check failed.
	Healthy bool `json:"healthy"`
	// Counts is the number of findings by result.
	Counts map[Result]int `json:"counts"`
}

func ok(format string, args ...any) Finding {
	return Finding{Result: OK, Found: fmt.Sprintf(format, args...)}
}

func skipped(format string, args ...any) Finding {
	return Finding{Result: Skipped, Found: fmt.Sprintf(format, args...)}
}

func warning(remedy, format string, args ...any) Finding {
	return Finding{Result: Warning, Found: fmt.Sprintf(format, args...), Remedy: remedy}
}

func failed(remedy, format string, args ...any) Finding {
	return Finding{Result: Failed, Found: fmt.Sprintf(format, args...), Remedy: remedy}
}

// isProblem reports whether a finding needs attention.
func (f *Finding) isProblem() bool { return f.Result == Failed || f.Result == Warning }

// orFine returns the findings, with fine in front of them unless one of them is a problem.
func orFine(findings []Finding, fine Finding) []Finding {
	for i := range findings {
		if findings[i].isProblem() {
			return findings
		}
	}
	return append([]Finding{fine}, findings...)
}

// describeMissing returns "NAME does not exist" or "NAME, NAME do not exist", with at most maxMissing names.
func describeMissing(names []string) string {
	if len(names) == 1 {
		return names[0] + " does not exist"
	}
	if len(names) > maxMissing {
		return fmt.Sprintf("%s and %d more do not exist", strings.Join(names[:maxMissing], ", "), len(names)-maxMissing)
	}
	return strings.Join(names, ", ") + " do not exist"
}

func (r *Report) count() {
	r.Counts = map[Result]int{}
	for _, f := range r.Findings {
		r.Counts[f.Result]++
	}
	r.Healthy = r.Counts[Failed] == 0
}

// failedChecks returns the names of the checks that failed.
func (r *Report) failedChecks() []string {
	var names []string
	for _, f := range r.Findings {
		if f.Result == Failed && !slices.Contains(names, f.Check) {
			names = append(names, f.Check)
		}
	}
	return names
}

// The widths of the columns of the report.
const (
	resultWidth = 8
	nameWidth   = 14
)

// remedyLabel is printed before the remedy of a finding.
const remedyLabel = "To do: "

// maxMissing limits the number of names in a finding about missing objects.
const maxMissing = 3

func (o *options) printFindings(findings []Finding) {
	style := render.Style{Enabled: o.f.Streams.IsColored()}
	indent := strings.Repeat(" ", resultWidth+nameWidth+1)
	for _, f := range findings {
		first := paintResult(style, f.Result) + strings.Repeat(" ", resultWidth-len(f.Result)) + fmt.Sprintf("%-*s ", nameWidth, f.Check)
		style.WriteWrapped(o.f.Streams.Out, first, indent, f.Found, o.f.Streams.Width)
		if f.Remedy != "" {
			style.WriteWrapped(o.f.Streams.Out, indent+remedyLabel, indent+strings.Repeat(" ", len(remedyLabel)), f.Remedy, o.f.Streams.Width)
		}
	}
}

func paintResult(style render.Style, result Result) string {
	switch result {
	case OK:
		return style.Good(string(result))
	case Failed:
		return style.Bad(string(result))
	case Warning:
		return style.Warn(string(result))
	}
	return style.Dim(string(result))
}

func (o *options) printSummary(r *Report) {
	var parts []string
	for _, result := range []Result{OK, Warning, Failed, Skipped} {
		if n := r.Counts[result]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, result))
		}
	}
	fmt.Fprintf(o.f.Streams.Out, "\n%s\n", strings.Join(parts, ", "))
}
