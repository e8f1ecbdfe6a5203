package overview

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/dashboard/demo"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/propertytest"
)

// demoContext returns a context that shows the demo cluster on a terminal of a size.
func demoContext(t *testing.T, width, height int) (*screenapi.Context, *Overview) {
	t.Helper()
	snap, err := snapshot.Of(demo.Now, demo.NewCluster()...)
	if err != nil {
		t.Fatal(err)
	}
	look, err := theme.New("mono", theme.NoColor, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx := &screenapi.Context{Now: demo.Now, Theme: look, Snap: snap, W: width, H: height, Resource: demo.GPU}
	o := New()
	o.Update(ctx, screenapi.Refresh{})
	return ctx, o
}

func TestTilesShowEachNodeWithItsDevicesAndIdleAmounts(t *testing.T) {
	t.Parallel()
	ctx, o := demoContext(t, 220, 57)
	c := canvas.New(220, 57, false)
	o.Draw(ctx, c)
	text := c.Text()
	for _, want := range []string{
		"r01n01 [████████] 0/64/512Gi",  // full
		"r12n08 [········] 8/128/1Ti",   // idle
		"r06n07 [██······] 6/112/928Gi", // mixed
		"r11n05 [DDDDDDDD] drain",       // cordoned
		"r10n05 [XXXXXXXX] down",        // not ready
		"gpu:  █ in use  · idle   amounts: idle gpu/cpu/mem",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestAClickOnATileOpensTheNode(t *testing.T) {
	t.Parallel()
	ctx, o := demoContext(t, 220, 57)
	c := canvas.New(220, 57, false)
	o.Draw(ctx, c)
	for y, line := range strings.Split(c.Text(), "\n") {
		at := strings.Index(line, "r07n08 [")
		if at < 0 {
			continue
		}
		x := canvas.Width(line[:at]) + 2
		effects := o.Update(ctx, screenapi.Mouse{Kind: screenapi.Click, X: x, Y: y})
		if len(effects) != 1 || effects[0] != (screenapi.Open{Screen: screenapi.Nodes, Target: "r07n08"}) {
			t.Errorf("a click returns %+v", effects)
		}
		return
	}
	t.Error("the tile is not shown")
}

func TestNodesAreAHeatMapIfTheirTilesDoNotFit(t *testing.T) {
	t.Parallel()
	ctx, o := demoContext(t, 120, 37)
	c := canvas.New(120, 37, false)
	o.Draw(ctx, c)
	if text := c.Text(); !strings.Contains(text, "r01 [████████]") || strings.Contains(text, "r01n01") {
		t.Errorf("no heat map:\n%s", text)
	}
}

func TestMarksTellIdlePartlyUsedAndFullNodesApart(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 200, func(t *rapid.T) {
		marks := rapid.IntRange(1, maxMarks).Draw(t, "marks")
		has := rapid.Int64Range(1, 1000).Draw(t, "has")
		used := rapid.Int64Range(0, has).Draw(t, "used")
		filled := usedMarks(used, has, marks)
		switch {
		case filled < 0 || filled > marks:
			t.Fatalf("%d of %d marks", filled, marks)
		case (filled == 0) != (used == 0):
			t.Fatalf("%d marks for %d of %d", filled, used, has)
		case marks > 1 && (filled == marks) != (used == has):
			t.Fatalf("%d of %d marks for %d of %d", filled, marks, used, has)
		case has == int64(marks) && int64(filled) != used:
			t.Fatalf("%d marks for %d of %d devices", filled, used, has)
		}
	})
}
