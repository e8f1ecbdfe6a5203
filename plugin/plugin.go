// Package plugin is what a scheduling policy of one's own is made of. The types
// are the scheduler's; this package gives them names that other modules can
// import. A policy registers rules in every cycle (Policy.Open); rules are pure
// functions: no I/O, clock, randomness or goroutine, and the same answer for the
// same input whatever came before, because cycles are replayed, tried and undone.
//
// Compile a policy in with app.WithPolicy of package cmd/vcd/app; the module in
// examples/custom-policy shows a whole one.
package plugin

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

type (
	// Policy takes part in deciding.
	Policy = session.Policy
	// Builder makes a policy from its entry in the configuration. What cannot be read
	// there goes to warn.
	Builder func(entry Entry, warn func(string)) Policy
	// Entry is the policy's entry in the scheduler's configuration: switches and arguments.
	Entry = config.Plugin
	// Reads says which switches and arguments of its entry a policy heeds.
	Reads = config.Reads

	// Session is one cycle: the cluster as it is known, and the rules.
	Session = session.Session
	// Rules are what policies register, in the order of tiers and policies.
	Rules = session.Rules
	// NodeRule says what a policy has to say of single nodes for single tasks.
	NodeRule = session.NodeRule
	// Attack is a try to evict for a gang; Guard and Entitlement judge it.
	Attack = session.Attack
	// Guard protects tasks from eviction, or grants them.
	Guard = session.Guard
	// Vote is a say about letting a gang into its queue.
	Vote = session.Vote

	// Job is a gang during a cycle, Gang what is known of it between cycles.
	Job = session.Job
	// Gang is a PodGroup and its pods.
	Gang = model.Gang
	// Task is a pod, Shape what of a pod matters for where it may run.
	Task = model.Task
	// Shape is shared by equal pods.
	Shape = model.Shape
	// Queue is a queue during a cycle.
	Queue = queue.Queue
	// NodeID is a row of Session.Cluster.Nodes.
	NodeID = model.NodeID
	// Request is a sparse vector of amounts: milli-cpu, bytes, units.
	Request = model.Request

	// Verdict is why a gang waits; Code "" means that it does not.
	Verdict = explain.Verdict
	// Code names a reason; ByPolicy is the one for policies from outside.
	Code = reason.Code
)

// ByPolicy is the reason of a policy from outside; what it says goes into the detail.
const ByPolicy = reason.ByPolicy

// Pipelined is the status of a task that is promised room which is not free yet.
const Pipelined = model.Pipelined

// The votes.
const (
	Reject  = session.Reject
	Abstain = session.Abstain
	Permit  = session.Permit
)
