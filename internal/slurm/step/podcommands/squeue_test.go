package podcommands

import (
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/step/protocol"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
)

func TestColumnsOfTheOwnJobAreFormattedAsOutsideOfJobs(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	job := &protocol.JobAnswer{Hosts: []string{"n1", "n2"}, Start: start.Unix(), Spec: launchconfig.Spec{JobName: "häuser\x1b[2J", TimeLimit: 600}, Pod: launchconfig.Pod{JobID: "42", ArrayIndex: 3}}
	for format, want := range map[string]string{
		"%.6i|%6D|%4j|%b":   "  42_3|2     |häus|N/A", // cut by letters, not by bytes
		"%j":                `häuser\x1b[2J`,          // no terminal obeys it
		"%M %L %l %e%% %r":  "1:01 8:59 10:00 " + start.Add(10*time.Minute).Format("2006-01-02T15:04:05") + "%% None",
		"job %i of %u, %Z.": "job 42_3 of , .",
	} {
		columns, _, err := tableformat.ParseLetters(format, columnFields(start.Add(61500*time.Millisecond)))
		if err != nil {
			t.Fatal(err)
		}
		if got := columns.RowLine(job); got != want {
			t.Errorf("%s: got %q, want %q", format, got, want)
		}
	}
}
