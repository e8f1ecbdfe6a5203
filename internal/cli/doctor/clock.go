package doctor

import (
	"context"
	"maps"
	"slices"
	"time"
)

const (
	// noticeableSkew is the difference of two clocks from which on it is reported. The API server states its time in
	// whole seconds.
	noticeableSkew = 10 * time.Second
	// harmfulSkew is the difference that vcd's certificates tolerate.
	harmfulSkew = 5 * time.Minute
)

// clockFacts holds what is known about the clocks.
type clockFacts struct {
	server serverFacts
	// renewed maps the name of a lease to the time at which its holder last renewed it, by the holder's clock. read is
	// the API server's time at which the leases were read.
	renewed    map[string]time.Time
	read       time.Time
	unreadable []Finding
}

func checkClock(ctx context.Context, r *reader) []Finding {
	begun := r.o.f.Now()
	facts := clockFacts{server: r.server, renewed: map[string]time.Time{}}
	for _, name := range r.leaseNames() {
		lease, problem := r.readLease(ctx, name)
		if problem != nil {
			facts.unreadable = append(facts.unreadable, *problem)
			break
		}
		if lease != nil && lease.Spec.RenewTime != nil {
			facts.renewed[name] = lease.Spec.RenewTime.Time
		}
	}
	facts.read = r.server.date.Add(begun.Sub(r.server.before)) // the reads take additional time, which errs on the safe side
	facts.read = facts.read.Add(r.o.f.Now().Sub(begun))
	return decideClock(&facts)
}

func decideClock(facts *clockFacts) []Finding {
	if facts.server.date.IsZero() {
		return []Finding{skipped("the API server's response states no time")}
	}
	var findings []Finding
	skew := clockSkew(&facts.server)
	size := skew.Abs().Round(time.Second)
	const synchronize = "synchronize the clocks with NTP"
	switch {
	case size >= harmfulSkew:
		findings = append(findings, failed(synchronize, "the clock of this machine and the API server's differ by %s; certificates and tokens may be rejected", size))
	case size >= noticeableSkew:
		findings = append(findings, warning(synchronize, "the clock of this machine and the API server's differ by %s", size))
	}
	for _, name := range slices.Sorted(maps.Keys(facts.renewed)) {
		if ahead := facts.renewed[name].Sub(facts.read); ahead >= noticeableSkew {
			findings = append(findings, warning("synchronize the clock of the node on which the holder runs with NTP",
				"the holder of lease %s has a clock that is at least %s ahead of the API server's", name, ahead.Round(time.Second)))
		}
	}
	findings = append(findings, facts.unreadable...)
	return orFine(findings, ok("the clocks of this machine and the API server agree; leases compared: %d", len(facts.renewed)))
}

// clockSkew returns by how much this machine's clock is ahead of the API server's. The API server's time is rounded down
// to a second, and may have been read at any time during the request.
func clockSkew(server *serverFacts) time.Duration {
	switch {
	case server.before.After(server.date.Add(time.Second)):
		return server.before.Sub(server.date.Add(time.Second))
	case server.after.Before(server.date):
		return server.after.Sub(server.date)
	}
	return 0
}
