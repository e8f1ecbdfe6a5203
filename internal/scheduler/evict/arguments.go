package evict

import "github.com/vc-batch/vc/internal/scheduler/config"

// DefaultDomains is the default number of topology domains to try.
const DefaultDomains = 8

// ParseBundles parses the arguments of the actions gangpreempt and gangreclaim. domains is the number of topology
// domains to try; surplus is true if gangs may lose only pods beyond their minimum.
func ParseBundles(arguments config.Arguments, warn func(string)) (domains int, surplus bool) {
	domains = arguments.Int("maxDomains", DefaultDomains, warn)
	if domains <= 0 {
		domains = DefaultDomains
	}
	return domains, !arguments.Bool("allowWholeBundle", true, warn)
}
