package config

import "fmt"

// DefaultText is the configuration used without a file. It is Volcano's default plus reclaim and preempt, so that
// queues get back what they deserve, plus pdb, so that no eviction violates a PodDisruptionBudget, and without
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

// Default returns the parsed DefaultText.
func Default() *Config {
	cfg, warnings, err := Parse([]byte(DefaultText))
	if err != nil || len(warnings) > 0 {
		panic(fmt.Sprintf("the built-in configuration: %v %q", err, warnings)) // a test parses it
	}
	return cfg
}
