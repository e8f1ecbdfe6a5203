package jobs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/tuitest"
)

// The reason is wrapped as long as lines are free, and the facts below it keep their lines.
func TestTheReasonOfAJobUsesTheFreeLines(t *testing.T) {
	t.Parallel()
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "nlp", Name: "train", UID: "1"}}
	job.Status.State = batchv1alpha1.JobState{Phase: batchv1alpha1.Failed, Reason: "Broken", Message: strings.Repeat("many words of a long message, ", 8) + "end"}
	snap, err := snapshot.Of(tuitest.Now, job)
	if err != nil {
		t.Fatal(err)
	}
	look, err := theme.New("dark", theme.NoColor, false)
	if err != nil {
		t.Fatal(err)
	}
	for height, isWhole := range map[int]bool{4: false, 10: true} {
		c := canvas.New(64, height, false)
		drawReason(&screenapi.Context{Snap: snap, Now: tuitest.Now, Theme: look, W: 66, H: 40}, c, snap.Jobs[0])
		text := c.Text()
		if got := strings.Contains(strings.Join(strings.Fields(text), " "), "message, end"); got != isWhole {
			t.Errorf("%d lines: the end of the reason is shown: %v, want %v:\n%s", height, got, isWhole, text)
		}
	}
}

func TestATextIsWrappedWithinItsLines(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		most int
		want []string
	}{
		"nothing":                          {"", 3, nil},
		"one line":                         {"a b", 1, []string{"a b"}},
		"as many as needed":                {"aaaa bbbb cccc", 3, []string{"aaaa", "bbbb", "cccc"}},
		"the rest is in the last line":     {"aaaa bbbb cccc dd", 2, []string{"aaaa", "bbbb cccc dd"}},
		"everything in the only line":      {"aaaa bbbb", 1, []string{"aaaa bbbb"}},
		"fewer lines than there are is ok": {"aaaa", 9, []string{"aaaa"}},
	} {
		wide := strings.NewReplacer("a", strings.Repeat("a", 10), "b", strings.Repeat("b", 10), "c", strings.Repeat("c", 10))
		var want []string
		for _, line := range tc.want {
			want = append(want, wide.Replace(line))
		}
		if diff := cmp.Diff(want, wrapWithin(wide.Replace(tc.text), 50, tc.most)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
