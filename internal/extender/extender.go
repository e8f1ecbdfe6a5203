// Package extender implements the policy extender. It sends questions about jobs, queues, nodes and victims to an HTTP
// server that the cluster's administrator provides.
//
//	In:   urlPrefix and a verb for each question, in the policy's arguments
//	Out:  rules, as from every policy
//
// This is the only policy that makes a cycle impure: the same model at the same time gives the same decisions only if
// the server gives the same answers. Therefore the package is outside of internal/scheduler, and a program that uses
// the policy must register it. The time is limited: httpTimeout for each request, and ten times that for all requests
// of one cycle; later requests count as not answered. Equal questions of one cycle are sent only once.
//
// # Concurrency
//
// A Policy belongs to the goroutine of its engine, which waits for each answer.
package extender

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const name = "extender"

// patience is the time after a refusal before the server is asked again. Its answer may change without a notification.
const patience = 5 * time.Second

// register registers the policy once, no matter how many callers need it.
var register = sync.OnceValue(func() error {
	return scheduler.Register(name, func(p config.Plugin, warn func(string)) session.Policy { return New(p, http.DefaultTransport, warn) })
})

// Register registers the policy for engines that are created afterwards.
func Register() error { return register() }

// The arguments that name the verbs.
const (
	sessionOpen    = "onSessionOpenVerb"
	sessionClose   = "onSessionCloseVerb"
	predicate      = "predicateVerb"
	prioritize     = "prioritizeVerb"
	preemptable    = "preemptableVerb"
	reclaimable    = "reclaimableVerb"
	queueOverused  = "queueOverusedVerb"
	jobEnqueueable = "jobEnqueueableVerb"
	jobEnqueued    = "jobEnqueuedVerb"
	jobReady       = "jobReadyVerb"
	allocated      = "allocateFuncVerb"
	deallocated    = "deallocateFuncVerb"
)

var verbs = []string{
	sessionOpen, sessionClose, predicate, prioritize, preemptable, reclaimable,
	queueOverused, jobEnqueueable, jobEnqueued, jobReady, allocated, deallocated,
}

// Policy implements the policy extender.
type Policy struct {
	conf      config.Plugin
	asker     asker
	verbs     map[string]string
	ignorable bool
	managed   map[string]bool // managed resources; nil means that all pods are sent

	s      *session.Session
	opened bool
	again  time.Time        // when to ask again after a refusal; zero if not needed
	fits   map[pair]refusal // answers of this cycle
	goes   map[victim]bool
}

type pair struct {
	task *model.Task
	node model.NodeID
}

type victim struct {
	kind  framework.AttackKind
	taker *framework.Job
	task  *model.Task
}

type refusal struct {
	code   reason.Code
	detail string
}

// New returns the policy; warn receives messages about invalid arguments.
func New(conf config.Plugin, transport http.RoundTripper, warn func(string)) *Policy {
	text := func(key, def string) string {
		return strings.TrimSpace(conf.Arguments.String("extender."+key, def, warn))
	}
	say := func(s string) {
		if warn != nil {
			warn(s)
		}
	}
	p := &Policy{conf: conf, verbs: map[string]string{}, ignorable: conf.Arguments.Bool("extender.ignorable", false, warn)}
	timeout, err := time.ParseDuration(text("httpTimeout", "1s"))
	if err != nil || timeout <= 0 {
		say("argument extender.httpTimeout: want a time such as 1s, have " + text("httpTimeout", "") + "; 1s is used")
		timeout = time.Second
	}
	p.asker = asker{prefix: strings.TrimSuffix(text("urlPrefix", ""), "/"), timeout: timeout, client: &http.Client{Transport: transport, Timeout: timeout}}
	for _, key := range verbs {
		if verb := strings.Trim(text(key, ""), "/"); verb != "" {
			p.verbs[key] = verb
		}
	}
	if !strings.HasPrefix(p.asker.prefix, "http://") && !strings.HasPrefix(p.asker.prefix, "https://") {
		say("argument extender.urlPrefix: want http://… or https://…; the extender is disabled")
		clear(p.verbs)
	}
	p.managed = managed(conf.Arguments["extender.managedResources"], say)
	return p
}

// managed reads the list of resources: names, or objects with a name as in kube-scheduler, or a text with
// comma-separated names.
func managed(raw any, say func(string)) map[string]bool {
	out := map[string]bool{}
	add := func(name string) {
		if name = strings.TrimSpace(name); name != "" {
			out[name] = true
		}
	}
	switch list := raw.(type) {
	case nil:
		return nil
	case string:
		for _, name := range strings.Split(list, ",") {
			add(name)
		}
	case []any:
		for _, item := range list {
			if object, ok := item.(map[string]any); ok {
				item = object["name"]
			}
			name, ok := item.(string)
			if !ok {
				say("argument extender.managedResources: want names of resources; one is ignored")
				continue
			}
			add(name)
		}
	default:
		say("argument extender.managedResources: want a list of names; ignored")
		return nil
	}
	return out
}

// Name returns the name of the policy, extender.
func (*Policy) Name() string { return name }

// Reads returns the switches and arguments that have an effect.
func (*Policy) Reads() config.Reads {
	return manual.Reads()
}

func (p *Policy) on(verb, enabled string) bool {
	return p.verbs[verb] != "" && (enabled == "" || p.conf.Enabled(enabled))
}

// Open registers a rule for each configured verb.
func (p *Policy) Open(s *session.Session) {
	p.s, p.opened, p.fits, p.goes = s, false, map[pair]refusal{}, map[victim]bool{}
	p.asker.begin()
	switch {
	case p.again.IsZero():
	case s.Now.Before(p.again):
		s.WakeAt(p.again)
	default:
		s.WakeAll, p.again = true, time.Time{}
	}
	r := &s.Rules
	if p.on(queueOverused, "enabledOverused") {
		r.Overused = append(r.Overused, p.overused)
	}
	if p.on(jobEnqueueable, "enableJobEnqueued") {
		r.Vote(p.enqueueable)
	}
	if p.on(jobEnqueued, "enableJobEnqueued") {
		r.Enqueued = append(r.Enqueued, func(j *framework.Job) {
			_ = p.ask(jobEnqueued, map[string]any{"job": p.job(j)}, &struct{}{})
		})
	}
	if p.on(jobReady, "enableJobReady") {
		r.Ready = append(r.Ready, p.ready)
	}
	if p.on(preemptable, "enablePreemptable") || p.on(reclaimable, "enableReclaimable") {
		r.Guard(p.guard)
	}
	rule := framework.NodeRule{Name: name, Remote: true, Applies: func(_ *framework.Job, t *model.Task) bool {
		return p.manages(t) && (p.on(predicate, "enablePredicate") || p.on(prioritize, "enableNodeOrder"))
	}}
	if p.on(predicate, "enablePredicate") {
		rule.Allows = p.allows
	}
	if p.on(prioritize, "enableNodeOrder") {
		rule.Rank = p.rank
	} else {
		rule.Expensive = func(*framework.Job, *model.Task) bool { return true }
	}
	if p.on(allocated, "") || p.on(deallocated, "") {
		rule.Placed = p.placed
	}
	r.Nodes = append(r.Nodes, rule)
}

// Close notifies the server of the end of the cycle, if it received any request.
func (p *Policy) Close(*session.Session) {
	if p.opened && p.on(sessionClose, "") {
		_ = p.asker.post(p.verbs[sessionClose], struct{}{}, &struct{}{})
	}
}

// manages reports whether a pod is sent to the server.
func (p *Policy) manages(t *model.Task) bool {
	if p.managed == nil {
		return true
	}
	for _, term := range t.Shape.Request {
		if p.managed[p.s.Cluster.Resources.Name(int(term.Index))] {
			return true
		}
	}
	return false
}

// ask sends a request. Before the first one of a cycle, it sends the snapshot of the cluster.
func (p *Policy) ask(verb string, body, reply any) error {
	if !p.opened {
		p.opened = true
		if p.on(sessionOpen, "") {
			_ = p.asker.post(p.verbs[sessionOpen], p.snapshot(), &struct{}{})
		}
	}
	return p.asker.post(p.verbs[verb], body, reply)
}

func (p *Policy) allows(_ *framework.Job, t *model.Task, id model.NodeID, _ bool) (reason.Code, string) {
	key := pair{t, id}
	r, known := p.fits[key]
	if !known {
		var reply struct {
			Status string
			Code   int
		}
		err := p.ask(predicate, map[string]any{"task": p.task(t), "node": p.node(id)}, &reply)
		switch {
		case err != nil && !p.ignorable:
			r = refusal{reason.ExtenderFailed, err.Error()}
		case err == nil && (reply.Status != "" || reply.Code != 0):
			r = refusal{reason.ExtenderRefused, short(reply.Status)}
		}
		p.fits[key] = r
		if r.code != "" {
			p.refuse()
		}
	}
	return r.code, r.detail
}

func (p *Policy) rank(_ *framework.Job, t *model.Task, nodes []model.NodeID, points []float64) {
	list := make([]nodeInfo, len(nodes))
	for i, id := range nodes {
		list[i] = p.node(id)
	}
	var reply struct {
		NodeScore    map[string]float64
		ErrorMessage string
	}
	if err := p.ask(prioritize, map[string]any{"task": p.task(t), "nodes": list}, &reply); err != nil || reply.ErrorMessage != "" {
		return
	}
	for i := range nodes {
		points[i] += reply.NodeScore[list[i].Name]
	}
}

func (p *Policy) placed(_ *framework.Job, t *model.Task, id model.NodeID, sign int) {
	verb := allocated
	if sign < 0 {
		verb = deallocated
	}
	if !p.on(verb, "") || !p.manages(t) {
		return
	}
	task := p.task(t)
	task.NodeName = p.s.View.Nodes.Name[id]
	_ = p.ask(verb, map[string]any{"task": task}, &struct{}{})
}

func (p *Policy) overused(q *queue.Queue) explain.Verdict {
	var reply struct{ Overused bool }
	err := p.ask(queueOverused, map[string]any{"queue": p.queue(q)}, &reply)
	if p.agrees(err, !reply.Overused) {
		return explain.Verdict{}
	}
	return p.refused(err, "queue "+q.Name+" has enough, the extender says")
}

func (p *Policy) enqueueable(j *framework.Job) (framework.Vote, explain.Verdict) {
	var reply struct{ Status int }
	switch err := p.ask(jobEnqueueable, map[string]any{"job": p.job(j)}, &reply); {
	case err != nil && p.ignorable:
		return framework.Abstain, explain.Verdict{}
	case err != nil || reply.Status < 0:
		return framework.Reject, p.refused(err, "the extender does not admit it to its queue")
	case reply.Status > 0:
		return framework.Permit, explain.Verdict{}
	}
	return framework.Abstain, explain.Verdict{}
}

// ready holds the gang if the server does not answer, unless the server may be ignored. In Volcano the gang starts.
func (p *Policy) ready(j *framework.Job) explain.Verdict {
	var reply struct{ Status bool }
	err := p.ask(jobReady, map[string]any{"job": p.job(j)}, &reply)
	if p.agrees(err, reply.Status) {
		return explain.Verdict{}
	}
	return p.refused(err, "the extender says that it is not ready")
}

// agrees reports whether the server agrees: by its answer, or, if it did not answer, because it may be ignored.
func (p *Policy) agrees(err error, answer bool) bool {
	if err != nil {
		return p.ignorable
	}
	return answer
}

// refuse schedules another request to the server.
func (p *Policy) refuse() {
	if p.again.IsZero() {
		p.again = p.s.Now.Add(patience)
		p.s.WakeAt(p.again)
	}
}

func (p *Policy) refused(err error, text string) explain.Verdict {
	p.refuse()
	if err != nil {
		return explain.Verdict{Code: reason.ExtenderFailed, Detail: "check the extender: " + err.Error()}
	}
	return explain.Verdict{Code: reason.ExtenderRefused, Detail: text}
}

// guard restricts the possible victims: the server names the evictees that may be evicted. It permits nothing that the
// other policies do not permit.
func (p *Policy) guard(a *framework.Attack) framework.Guard {
	verb := ""
	switch {
	case (a.Kind == framework.Preempt || a.Kind == framework.GangPreempt) && p.on(preemptable, "enablePreemptable"):
		verb = preemptable
	case (a.Kind == framework.Reclaim || a.Kind == framework.GangReclaim) && p.on(reclaimable, "enableReclaimable"):
		verb = reclaimable
	}
	if verb == "" || a.Taker == nil || len(a.Tasks) == 0 {
		return framework.Guard{Code: reason.ExtenderRefused, May: func([]*model.Task) (bool, string) { return true, "" }}
	}
	return framework.Guard{Code: reason.ExtenderRefused, May: func(victims []*model.Task) (bool, string) {
		for _, t := range victims {
			if p.manages(t) && !p.mayGo(verb, a, t) {
				return false, "the extender"
			}
		}
		return true, ""
	}}
}

func (p *Policy) mayGo(verb string, a *framework.Attack, t *model.Task) bool {
	key := victim{a.Kind, a.Taker, t}
	if may, known := p.goes[key]; known {
		return may
	}
	var reply struct {
		Status  int
		Victims []struct{ UID string }
	}
	err := p.ask(verb, map[string]any{"evictor": p.task(a.Tasks[0]), "evictees": []taskInfo{p.task(t)}}, &reply)
	may := p.agrees(err, reply.Status == 0) // status 0 means that the server has no opinion
	if err == nil && reply.Status > 0 {
		for _, v := range reply.Victims {
			may = may || v.UID == string(t.UID)
		}
	}
	p.goes[key] = may
	return may
}

// short truncates a text of the server to the length that fits into an explanation.
func short(text string) string {
	const most = 100
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
