// Package plugin contains the types for custom scheduling policies. The types are the scheduler's; this package gives
// them names that other modules can import. A policy registers rules in every cycle (Policy.Open). Rules are pure
// functions: they use no I/O, clock, random numbers or goroutines, and return the same result for the same input
// independent of earlier calls, because cycles are replayed, simulated and rolled back.
//
// Compile a policy in with app.WithPolicy of package cmd/vcd/app. The module in examples/custom-policy is a complete
// example.
package plugin

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

type (
	// Policy takes part in the decisions of the scheduler.
	Policy = session.Policy
	// Builder creates a policy from its entry in the configuration, and passes messages about invalid arguments to
	// warn.
	Builder func(entry Entry, warn func(string)) Policy
	// Entry is the policy's entry in the scheduler's configuration: switches and arguments.
	Entry = config.Plugin
	// Reads lists the switches and arguments that a policy uses.
	Reads = config.Reads

	// Session is one cycle: the state of the cluster, and the rules.
	Session = session.Session
	// Rules holds the rules that policies register, in the order of tiers and policies.
	Rules = framework.Rules
	// NodeRule holds a policy's rules for placing single tasks on single nodes.
	NodeRule = framework.NodeRule
	// Attack is an attempt to evict tasks for a gang; Guard and Entitlement evaluate it.
	Attack = framework.Attack
	// Guard protects tasks from eviction, or permits it.
	Guard = framework.Guard
	// Vote is a policy's vote on the admission of a gang to its queue.
	Vote = framework.Vote

	// Job is a gang during a cycle; Gang is its state between cycles.
	Job = framework.Job
	// Gang is a PodGroup and its pods.
	Gang = model.Gang
	// Task is a pod; Shape is the part of its spec that determines where it may run.
	Task = model.Task
	// Shape is an equivalence class of pods; equal pods share it.
	Shape = model.Shape
	// Queue is a queue during a cycle.
	Queue = queue.Queue
	// NodeID is the index of a row in Session.Cluster.Nodes.
	NodeID = model.NodeID
	// Request is a sparse vector of amounts: milli-CPU, bytes, units.
	Request = model.Request

	// Verdict is the reason why a gang waits. If Code is "", the gang does not wait.
	Verdict = explain.Verdict
	// Code identifies a reason; ByPolicy is the reason for custom policies.
	Code = reason.Code
)

// ByPolicy is the reason for custom policies; the detail contains their message.
const ByPolicy = reason.ByPolicy

// Pipelined is the status of a task that is promised resources which are not free yet.
const Pipelined = model.Pipelined

// The votes.
const (
	Reject  = framework.Reject
	Abstain = framework.Abstain
	Permit  = framework.Permit
)
