package config

import "fmt"

// DefaultText is the configuration that is used if there is no file. Compared with Volcano's default, it adds reclaim
// and preempt, so that queues get back what they deserve, and pdb, so that no eviction violates a
// PodDisruptionBudget. It omits overcommit and drf.
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

// Default returns the parsed form of DefaultText.
func Default() *Config {
	cfg, warnings, err := Parse([]byte(DefaultText))
	if err != nil || len(warnings) > 0 {
		panic(fmt.Sprintf("the built-in configuration: %v %q", err, warnings)) // unreachable: a test parses the text
	}
	return cfg
}
