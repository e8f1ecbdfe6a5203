// Package screens lists all screens of the dashboard, in the order of their tabs.
package screens

import (
	"github.com/vc-batch/vc/internal/tui/screenapi"
	"github.com/vc-batch/vc/internal/tui/screens/explain"
	"github.com/vc-batch/vc/internal/tui/screens/job"
	"github.com/vc-batch/vc/internal/tui/screens/jobs"
	"github.com/vc-batch/vc/internal/tui/screens/nodes"
	"github.com/vc-batch/vc/internal/tui/screens/overview"
	"github.com/vc-batch/vc/internal/tui/screens/queues"
)

// All returns the specs of all screens.
func All() []screenapi.Spec {
	return []screenapi.Spec{overview.Spec(), jobs.Spec(), queues.Spec(), nodes.Spec(), explain.Spec(), job.Spec()}
}
