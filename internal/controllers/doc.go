// Package controllers registers the controllers of this project with a manager of controller-runtime.
//
// Each controller is a package of its own: it reads from the manager's cache, computes a plan with a pure function, and
// writes the plan with its own client.
package controllers
