// Package consistency compares the dashboard with the command line: Overview, Queues, Nodes, Jobs, Job and Explain must
// show the same as vcctl prints for the same moment. It uses the cluster of the golden files and random clusters.
//
// Both read servers with the same objects. vcctl runs commands as a user types them, and the dashboard uses its own
// watches. The test compares the text of the screens.
package consistency
