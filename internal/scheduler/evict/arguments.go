package evict

import "github.com/vc-batch/vc/internal/scheduler/config"

// DefaultDomains is the default number of domains that are tried.
const DefaultDomains = 8

// Bundles reads the arguments of gangpreempt and gangreclaim: how many domains are tried, and whether gangs lose
// only their surplus.
func Bundles(arguments config.Arguments, warn func(string)) (domains int, surplus bool) {
	domains = arguments.Int("maxDomains", DefaultDomains, warn)
	if domains <= 0 {
		domains = DefaultDomains
	}
	return domains, !arguments.Bool("allowWholeBundle", true, warn)
}
