package config

import "fmt"

// DefaultText is the configuration that runs without a file: Volcano's default with reclaim and preempt, so that queues get
// back what they deserve out of the box, with pdb, so that no eviction exceeds a PodDisruptionBudget, and without
// overcommit and drf.
const DefaultText = `actions: "enqueue, allocate, backfill, reclaim, preempt"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: pdb
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
`

// Default is DefaultText, read.
func Default() *Config {
	cfg, warnings, err := Parse([]byte(DefaultText))
	if err != nil || len(warnings) > 0 {
		panic(fmt.Sprintf("the built-in configuration: %v %q", err, warnings)) // a test reads it
	}
	return cfg
}
