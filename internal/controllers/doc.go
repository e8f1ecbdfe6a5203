// Package controllers registers the controllers with a manager of controller-runtime: jobs, PodGroups of plain pods, queues.
//
// Each controller is a package: it reads from the manager's cache, computes a plan with a pure function and writes it with a client of its own.
package controllers
