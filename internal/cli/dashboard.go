package cli

import "context"

// DashboardOptions is how the user wants the dashboard.
type DashboardOptions struct {
	// Namespace is the one shown first; "" is all.
	Namespace string
	// ReadOnly refuses everything that changes something.
	ReadOnly bool
	// ASCII draws with nothing else.
	ASCII bool
	// Theme is the name of the colours; an unknown one is an error of the dashboard.
	Theme string
}

// Dashboard shows the cluster live in a terminal until the user ends it. Command line and
// dashboard do not know each other: the program that has both hands it in.
type Dashboard func(context.Context, *Factory, DashboardOptions) error
