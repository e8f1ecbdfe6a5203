package cli

import "context"

// DashboardOptions holds the user's settings for the dashboard.
type DashboardOptions struct {
	// Namespace is the namespace shown first; "" means all.
	Namespace string
	// ReadOnly disables every action that changes something.
	ReadOnly bool
	// ASCII draws with ASCII characters only.
	ASCII bool
	// Theme is the name of the colour theme; the dashboard rejects an unknown name.
	Theme string
}

// Dashboard shows the cluster live in a terminal until the user quits. The command line and the dashboard do not
// import each other: the main program connects them.
type Dashboard func(context.Context, *Factory, DashboardOptions) error
