// Package numbers holds the dashboard and the command line to each other: what
// Overview, Queues, Nodes, Jobs, Job and Explain show and what vcctl prints about the
// same moment is the same: on the cluster of the goldens, and on clusters that chance
// makes.
//
// Both ask servers of the same objects: vcctl's commands as a user types them, and the
// dashboard by its own watches. What is compared is what stands on the screen.
package numbers
