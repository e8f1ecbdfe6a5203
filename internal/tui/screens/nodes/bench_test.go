package nodes

import (
	"testing"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/tuitest"
)

// BenchmarkFrames measures a frame of 160x50 with 5,000 nodes and 10,000 jobs: the list, the heat map, and a new
// snapshot.
func BenchmarkFrames(b *testing.B) {
	looks, err := theme.New("dark", theme.TrueColor, false)
	if err != nil {
		b.Fatal(err)
	}
	snap, err := snapshot.Of(tuitest.Now, tuitest.ManyNodesAndJobs(5000, 10000)...)
	if err != nil {
		b.Fatal(err)
	}
	ctx := &screenapi.Context{Snap: snap, Now: tuitest.Now, Theme: looks, W: 160, H: 50}
	n := New("").(*Nodes)
	n.Update(ctx, screenapi.Refresh{})
	draw := func(b *testing.B) {
		for b.Loop() {
			n.Draw(ctx, canvas.New(160, 47, false))
		}
	}
	b.Run("list", draw)
	b.Run("refresh", func(b *testing.B) {
		for b.Loop() {
			n.Update(ctx, screenapi.Refresh{})
		}
	})
	n.enterHeat(ctx)
	b.Run("heat", draw)
	n.by = "flat"
	n.fillHeat()
	b.Run("flat heat", draw)
}
