package explain_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/explain"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/tuitest"
)

func TestAFrameHasOneClockAndTheTextForOthersUTC(t *testing.T) {
	t.Parallel()
	look, err := theme.New("dark", theme.NoColor, false)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := tuitest.SnapshotOfWorld("various")
	if err != nil {
		t.Fatal(err)
	}
	ctx := &screenapi.Context{Snap: snap, Now: tuitest.Now.In(time.FixedZone("CST", 8*60*60)), Theme: look, Program: "vcctl", W: 160, H: 50}
	why := explain.New("job-16")
	why.Update(ctx, screenapi.Refresh{})
	frame := canvas.New(160, 48, false)
	why.Draw(ctx, frame)
	moments := regexp.MustCompile(`\d\d:\d\d:\d\d(Z|\+08:00)`)
	for text, zone := range map[string]string{frame.Text(): "+08:00", why.Twin(ctx): "Z"} {
		found := moments.FindAllString(text, -1)
		if len(found) == 0 {
			t.Errorf("no moment is named in\n%s", text)
		}
		for _, moment := range found {
			if !strings.HasSuffix(moment, zone) {
				t.Errorf("%s is not in %s:\n%s", moment, zone, text)
			}
		}
	}
}
