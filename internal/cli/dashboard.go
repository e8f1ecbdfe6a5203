package cli

import "context"

// DashboardOptions holds the user's settings for the dashboard.
type DashboardOptions struct {
	// Namespace is the namespace to show first; "" means all namespaces.
	Namespace string
	// ReadOnly disables all actions that change something.
	ReadOnly bool
	// ASCII is true if only ASCII characters are drawn.
	ASCII bool
	// Theme is the name of the color theme; the dashboard rejects unknown names. If it is empty, the settings file or the
	// terminal decides.
	Theme string
	// SlurmWords shows Slurm's names of states and reasons.
	SlurmWords bool
	// Compact shows text without boxes, bars and maps, for narrow terminals and screen readers.
	Compact bool
	// Demo shows a made-up cluster instead of a real one.
	Demo bool
}

// Dashboard shows the cluster live in a terminal until the user quits. The command line and the dashboard do not
// import each other; the main program connects them.
type Dashboard func(context.Context, *Factory, DashboardOptions) error
