// Package screens lists all screens of the dashboard, in the order of their tabs.
package screens

import (
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/document"
	"github.com/vc-batch/vc/internal/tui/screens/events"
	"github.com/vc-batch/vc/internal/tui/screens/explain"
	"github.com/vc-batch/vc/internal/tui/screens/history"
	"github.com/vc-batch/vc/internal/tui/screens/job"
	"github.com/vc-batch/vc/internal/tui/screens/jobs"
	"github.com/vc-batch/vc/internal/tui/screens/nodes"
	"github.com/vc-batch/vc/internal/tui/screens/overview"
	"github.com/vc-batch/vc/internal/tui/screens/queues"
	"github.com/vc-batch/vc/internal/tui/screens/tree"
)

// AllScreenSpecs returns the specs of all screens.
func AllScreenSpecs() []screenapi.Spec {
	return []screenapi.Spec{overview.ScreenSpec(), jobs.ScreenSpec(), queues.ScreenSpec(), nodes.ScreenSpec(), explain.ScreenSpec(), job.ScreenSpec(), events.ScreenSpec(), document.ScreenSpec(), history.ScreenSpec(), tree.ScreenSpec()}
}
