// Package plugin contains the types for custom scheduling policies. They are the scheduler's own types under names
// that other modules can import. A policy registers rules in every cycle (Policy.Open). Rules are pure functions:
// they do not use I/O, the clock, random numbers or goroutines, and they return the same result for the same input
// regardless of earlier calls. This is necessary because cycles are replayed, simulated and rolled back.
//
// To compile a policy into the scheduler, use app.WithPolicy in package cmd/vcd/app. The module in
// examples/custom-policy is a complete example.
package plugin

import (
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

type (
	// Policy takes part in the decisions of the scheduler.
	Policy = session.Policy
	// Builder creates a policy from its entry in the configuration. It passes messages about invalid arguments to
	// warn.
	Builder func(entry Entry, warn func(string)) Policy
	// Entry is a policy's entry in the scheduler's configuration, which consists of switches and arguments.
	Entry = config.Plugin
	// Reads lists the switches and arguments that a policy uses.
	Reads = config.Reads

	// Session is one scheduling cycle: the state of the cluster, and the rules.
	Session = session.Session
	// Rules holds the rules that policies register, in the order of the tiers and of the policies within them.
	Rules = framework.Rules
	// NodeRule holds the rules of a policy for placing single tasks on nodes.
	NodeRule = framework.NodeRule
	// Attack is an attempt to evict tasks for a gang. It is evaluated by Guard and Entitlement.
	Attack = framework.Attack
	// Guard protects tasks from eviction or permits their eviction.
	Guard = framework.Guard
	// Vote is a policy's vote on the admission of a gang to its queue.
	Vote = framework.Vote

	// Job is a gang during a cycle; Gang is its state between cycles.
	Job = framework.Job
	// Gang is a PodGroup and its pods.
	Gang = model.Gang
	// Task is a pod. Shape is the part of its spec that determines where the pod may run.
	Task = model.Task
	// Shape is an equivalence class of pods, which is shared by all equal pods.
	Shape = model.Shape
	// Queue is a queue during a cycle.
	Queue = queue.Queue
	// NodeID is the index of a node in Session.Cluster.Nodes.
	NodeID = model.NodeID
	// Request is a sparse vector of amounts, in milli-CPU, bytes or units.
	Request = resource.Request

	// Verdict describes why a gang is waiting. If Code is "", the gang is not waiting.
	Verdict = explain.Verdict
	// Code identifies a reason. Custom policies use the reason ByPolicy.
	Code = reason.Code
)

// ByPolicy is the reason that custom policies use. Their message is the detail.
const ByPolicy = reason.ByPolicy

// Pipelined is the status of a task that has been promised resources that are not free yet.
const Pipelined = model.Pipelined

// Votes on the admission of a gang.
const (
	Reject  = framework.Reject
	Abstain = framework.Abstain
	Permit  = framework.Permit
)
