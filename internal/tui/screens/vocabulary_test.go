package screens_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/jobrow"
	"github.com/vc-batch/vc/internal/tui/noderow"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/tuitest"
)

// slurmWords matches Slurm's codes of states and Slurm's reasons in parentheses.
var slurmWords = regexp.MustCompile(`\b(PD|CF|CG|RQ|CD|CA|OOM|NF|drng|alloc \d)\b|\((Resources|Prolog|Priority|PodsReleased)\)`)

// drawAllTabs returns the frames of all tabs.
func drawAllTabs(t *testing.T, world string, settings tui.Settings) string {
	t.Helper()
	settings.Colors = theme.NoColor
	app, err := tuitest.StartWithPreferences(t, screens.AllScreenSpecs(), world, tuitest.Size{W: 160, H: 60}, settings)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, key := range []string{"1", "2", "3", "4", "5"} {
		tuitest.KeyPresser(key)(app)
		all.WriteString(app.Draw().Text())
	}
	tuitest.KeyPresser("2", "enter")(app)
	all.WriteString(app.Draw().Text())
	return all.String()
}

func TestEveryScreenUsesOneVocabulary(t *testing.T) {
	t.Parallel()
	for _, world := range []string{"normal", "various", "few"} {
		t.Run(world, func(t *testing.T) {
			t.Parallel()
			if found := slurmWords.FindAllString(drawAllTabs(t, world, tui.Settings{}), -1); len(found) > 0 {
				t.Errorf("without --slurm, the screens show %q", found)
			}
			slurm := drawAllTabs(t, world, tui.Settings{Words: screenapi.SlurmWords})
			for _, want := range []string{" ST ", "NODELIST(REASON)", " PD "} {
				if !strings.Contains(slurm, want) {
					t.Errorf("with --slurm, no screen shows %q", want)
				}
			}
			if preferred := drawAllTabs(t, world, tui.Settings{Preferences: tui.Preferences{Slurm: true}}); preferred != slurm {
				t.Error("the setting slurm: true differs from --slurm")
			}
		})
	}
}

// TestAStateHasTheSameWordAsInTheLists verifies that rows show the phase that vcctl job list shows, and filters accept
// the words of both vocabularies.
func TestAStateHasTheSameWordAsInTheLists(t *testing.T) {
	t.Parallel()
	snap, err := tuitest.SnapshotOfWorld("various")
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range snap.Jobs {
		row := jobrow.Row{Job: job}
		if got := row.StateText(screenapi.KubernetesWords); got != string(job.Object.Status.State.Phase) {
			t.Errorf("%s: state %q, want the phase %q", job.Name, got, job.Object.Status.State.Phase)
		}
		for _, words := range []screenapi.Vocabulary{screenapi.KubernetesWords, screenapi.SlurmWords} {
			matching, err := jobrow.FilterFields(snap, tuitest.Now).Parse("st:" + row.StateText(words))
			if err != nil || !matching.Match(row) {
				t.Errorf("%s: the filter st:%s does not match (%v)", job.Name, row.StateText(words), err)
			}
		}
	}
	for _, node := range snap.Nodes {
		if text := noderow.StateTextOf(node, screenapi.KubernetesWords); text == "" {
			t.Errorf("node %s in state %s has no word", node.Name, node.State)
		}
	}
}
