// Package controllers lists the controllers of this project and registers them with a manager of controller-runtime.
//
// Each controller is a separate package. It reads from the manager's cache, computes a plan with a pure function, and
// carries out the plan with its own client.
package controllers
