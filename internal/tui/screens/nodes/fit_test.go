package nodes

import (
	"testing"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/tuitest"
)

// Five thousand nodes are visible at once on a screen of 160x50, in racks of 40 and of 8, and without racks.
func TestFiveThousandNodesFitTheScreen(t *testing.T) {
	t.Parallel()
	looks, err := theme.New("dark", theme.TrueColor, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, inRack := range map[string]int{"racks of 40": 40, "racks of 8": 8, "no racks": 0} {
		snap, err := snapshot.Of(tuitest.Now, tuitest.ManyNodesAndJobs(5000, 0)...)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range snap.Nodes {
			row.Rack = ""
			if inRack > 0 {
				row.Rack = "r" + string(rune('a'+i/inRack%26)) + string(rune('a'+i/inRack/26))
			}
		}
		ctx := &screenapi.Context{Snap: snap, Now: tuitest.Now, Theme: looks, W: 160, H: 50}
		n := New("").(*Nodes)
		n.Update(ctx, screenapi.Refresh{})
		n.enterHeat(ctx)
		body := canvas.New(160, 47, false) // without title, tabs and footer
		n.Draw(ctx, body)
		seen := map[string]bool{}
		for y := range 47 {
			for x := range 160 {
				if id := n.heat.At(x, y); id != "" {
					seen[id] = true
				}
			}
		}
		if len(seen) != 5000 || n.heat.Skip != 0 || n.heat.TotalLines() > n.heat.drawn.H {
			t.Errorf("%s: %d of 5000 nodes are seen, in %d lines of %d, %d of which are scrolled away", name, len(seen), n.heat.TotalLines(), n.heat.drawn.H, n.heat.Skip)
		}
	}
}

// If the map needs more lines than there are, the cell under the cursor is always visible.
func TestTheHeatMapScrollsToItsCursor(t *testing.T) {
	t.Parallel()
	looks, err := theme.New("mono", theme.NoColor, true)
	if err != nil {
		t.Fatal(err)
	}
	snap, err := tuitest.SnapshotOfWorld("many")
	if err != nil {
		t.Fatal(err)
	}
	ctx := &screenapi.Context{Snap: snap, Now: tuitest.Now, Theme: looks, W: 60, H: 15}
	n := New("").(*Nodes)
	n.Update(ctx, screenapi.Refresh{})
	n.enterHeat(ctx)
	for _, move := range []func(){n.heat.End, n.heat.Home, n.heat.End, func() { n.heat.Page(-1) }, func() { n.heat.moveSideways(1) }} {
		move()
		n.Draw(ctx, canvas.New(60, 12, true))
		line := n.heat.LineOfCell(n.heat.Cursor) - n.heat.Skip
		if line < 0 || line >= n.heat.drawn.H {
			t.Errorf("the cursor is on %s in line %d of %d", n.heat.Cursor, line, n.heat.drawn.H)
		}
	}
}
