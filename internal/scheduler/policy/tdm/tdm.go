// Package tdm lends nodes to revocable pods during certain hours (time-division multiplexing). Nodes labelled
// volcano.sh/revocable-zone accept revocable pods while their zone is open. When the zone closes, these pods can be
// evicted.
//
//	In:   zones with their hours, nodes with the name of a zone, pods that are revocable
//	Out:  closed nodes and the pods that they reject; scores for revocable pods; the times when zones open and close
//
// The hours are in the time zone tdm.time-zone, which is the machine's time zone by default.
package tdm

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/equivalence"
	"github.com/vc-batch/vc/internal/scheduler/fit"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/nodecache"
	"github.com/vc-batch/vc/internal/scheduler/score"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const (
	zonePrefix = "tdm.revocable-zone."
	timeZone   = "tdm.time-zone"
	// points is the score of a lent node for a revocable pod. It is the same as in Volcano.
	points = 100
)

// Policy implements the tdm policy.
type Policy struct {
	conf     config.Plugin
	zones    map[string]zone
	period   time.Duration
	location *time.Location

	s     *session.Session
	open  map[string]bool // zones that are currently open
	nodes nodecache.Table[string]
	// shut lists the lent nodes whose zone is closed. lent lists the lent nodes whose zone is open; it applies only
	// to pods that are not revocable.
	shut, lent fit.Closing
	bonus      score.Bonus
}

// New returns the policy. It calls warn for each invalid argument.
func New(conf config.Plugin, warn func(string)) *Policy {
	say := func(format string, args ...any) {
		if warn != nil {
			warn(fmt.Sprintf(format, args...))
		}
	}
	p := &Policy{conf: conf, zones: map[string]zone{}, location: time.Local, open: map[string]bool{}}
	if name := conf.Arguments.String(timeZone, "", warn); name != "" {
		location, err := time.LoadLocation(name)
		if err != nil {
			say("argument %s: %q is not a valid time zone; the machine's time zone is used", timeZone, name)
		} else {
			p.location = location
		}
	}
	if on, given := conf.Switches["enableJobPipelined"]; given && !on {
		say("enableJobPipelined: false has no effect: a gang is never placed with fewer pods than its minimum")
	}
	p.period = parsePeriod(conf.Arguments.String(evictPeriod, "", warn), say)
	for _, key := range p.zoneArguments() {
		z, err := parseZone(conf.Arguments.String(key, "", warn))
		if err != nil {
			say("argument %s: %v; the zone stays closed", key, err)
			continue
		}
		p.zones[strings.TrimPrefix(key, zonePrefix)] = z
	}
	p.shut.Why = func(id model.NodeID) (reason.Code, string) { return reason.ZoneClosed, p.nodes.Values[id] }
	p.lent.Why = func(id model.NodeID) (reason.Code, string) { return reason.NotRevocable, p.nodes.Values[id] }
	p.lent.For = func(s *model.Shape) bool { return !IsRevocable(s) }
	p.bonus.For = IsRevocable
	return p
}

func (p *Policy) zoneArguments() (found []string) {
	for _, key := range slices.Sorted(maps.Keys(p.conf.Arguments)) {
		if strings.HasPrefix(key, zonePrefix) {
			found = append(found, key)
		}
	}
	return found
}

// Name returns "tdm".
func (*Policy) Name() string { return "tdm" }

// Reads returns the switches and arguments that have an effect.
func (p *Policy) Reads() config.Reads {
	return manual.Reads(p.zoneArguments()...)
}

// Configure adds the tables of closed nodes and scores to the judge.
func (p *Policy) Configure(j *equivalence.Judge) {
	if p.conf.Enabled("enablePredicate") {
		j.Filters.Closed = append(j.Filters.Closed, &p.shut, &p.lent)
	}
	if p.conf.Enabled("enableNodeOrder") {
		j.Weights.Bonuses = append(j.Weights.Bonuses, &p.bonus)
	}
}

// Open updates the tables for the current time, registers the rules, and requests a cycle for the next time when a zone
// opens or closes.
func (p *Policy) Open(s *session.Session) {
	p.s = s
	changed := p.updateOpenZones()
	lent := false
	p.nodes.Update(s.Cluster, func(id model.NodeID) string {
		if info := s.Cluster.Nodes.Info[id]; info != nil {
			return info.Labels[keys.RevocableZone]
		}
		return ""
	}, func(id model.NodeID, _, _ string) { p.updateNode(id) })
	for id, name := range p.nodes.Values {
		lent = lent || name != ""
		if changed && name != "" {
			p.updateNode(model.NodeID(id))
		}
	}
	if lent {
		for _, z := range p.zones {
			_, change := z.stateAndChange(s.Now.In(p.location))
			s.WakeAt(change)
		}
	}
	s.Rules.Remarks = append(s.Rules.Remarks, annotationWarnings)
	if p.conf.Enabled("enableJobStarving") {
		s.Rules.Starve(func(j *framework.Job) bool { return !IsPreemptable(j.Gang) && len(j.Pending) > 0 })
	}
	if p.conf.Enabled("enablePreemptable") {
		s.Rules.Entitle(p.grantGuestEviction, framework.Preempt)
	}
	if p.conf.Enabled("enabledVictim") {
		p.evictOverstaying(s)
	}
	if p.conf.Enabled("enableJobOrder") {
		s.Rules.JobOrder = append(s.Rules.JobOrder, func(a, b *framework.Job) int {
			return cmp.Compare(oneIfTrue(IsPreemptable(a.Gang)), oneIfTrue(IsPreemptable(b.Gang)))
		})
	}
}

// updateOpenZones updates which zones are open. It reports whether any zone has opened or closed.
func (p *Policy) updateOpenZones() (changed bool) {
	for name, z := range p.zones {
		open, _ := z.stateAndChange(p.s.Now.In(p.location))
		changed = changed || open != p.open[name]
		p.open[name] = open
	}
	return changed
}

// IsOpen reports whether a node can be used now, because it is not lent or its zone is open.
func (p *Policy) IsOpen(id model.NodeID) bool {
	name := p.nodes.Values[id]
	return name == "" || p.open[name]
}

// updateNode updates a node's entries in the tables, and marks the node as changed if they differ.
func (p *Policy) updateNode(id model.NodeID) {
	for n := len(p.nodes.Values); len(p.shut.At) < n; {
		p.shut.At, p.lent.At = append(p.shut.At, false), append(p.lent.At, false)
		p.bonus.Points = append(p.bonus.Points, 0)
	}
	zoned := p.nodes.Values[id] != ""
	shut, lent, bonus := zoned && !p.IsOpen(id), zoned && p.IsOpen(id), 0.0
	if lent {
		bonus = points
	}
	if shut != p.shut.At[id] || lent != p.lent.At[id] || bonus != p.bonus.Points[id] {
		p.shut.At[id], p.lent.At[id], p.bonus.Points[id] = shut, lent, bonus
		if int(id) < len(p.s.View.Rank) {
			p.s.View.MarkChanged(id, !shut)
		}
	}
}

// IsRevocable reports whether pods of a shape may be placed on lent nodes, because they are annotated for any zone or
// are preemptable.
func IsRevocable(s *model.Shape) bool {
	if zone, given := s.Notes[keys.RevocableZone]; given {
		return zone == "*"
	}
	return parseBoolOrFalse(s.Notes[keys.Preemptable])
}

// IsPreemptable reports whether a gang is declared preemptable. Unlike for individual pods, the default is false.
func IsPreemptable(g *model.Gang) bool { return parseBoolOrFalse(g.Preemptable) }

func parseBoolOrFalse(text string) bool {
	yes, err := strconv.ParseBool(text)
	return err == nil && yes
}

func oneIfTrue(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
