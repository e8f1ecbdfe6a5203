package overview

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui/canvas"
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/theme"
)

// addUseLine adds a line below a block of nodes: the GPUs that are allocated but idle, or the reason why the use of GPUs
// is unknown. It returns the block unchanged if there is nothing to show.
func addUseLine(ctx *screenapi.Context, b block) block {
	text := useText(ctx)
	if text == "" {
		return b
	}
	draw := b.draw
	b.want++
	b.draw = func(c canvas.Canvas) {
		if c.H <= b.least {
			draw(c)
			return
		}
		above, below := c.Cut(c.H - 1)
		draw(above)
		below.Fit(0, 0, below.W, text, theme.Warn)
	}
	return b
}

// useText describes the GPUs that are allocated but idle, for example "16 of 549 allocated GPUs are idle: 16 det-finetune
// (omar) for 2h". It returns "" if there are none.
func useText(ctx *screenapi.Context) string {
	usage := ctx.Snap.Usage
	switch {
	case usage == nil:
		return ""
	case usage.Problem != "":
		return usage.Problem
	}
	type found struct {
		idle      []snapshot.IdleGPUs
		allocated int64
	}
	now := snapshot.CachedValue(ctx.Snap, memo("idle GPUs"), func() found {
		idle, allocated := ctx.Snap.FindIdleGPUs(ctx.Now)
		return found{idle, allocated}
	})
	if len(now.idle) == 0 {
		return ""
	}
	var sum int64
	owners := make([]string, len(now.idle))
	for i := range now.idle {
		sum += now.idle[i].Count
		owners[i] = now.idle[i].Text(ctx.Now)
	}
	return fmt.Sprintf("%d of %d allocated GPUs are idle: %s", sum, now.allocated, strings.Join(owners, ", "))
}
