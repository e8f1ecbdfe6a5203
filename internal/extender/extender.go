// Package extender implements the policy extender. It sends questions about jobs, queues, nodes and victims to an HTTP
// server that the cluster's administrator provides.
//
//	In:   urlPrefix and a verb for each question, in the policy's arguments
//	Out:  rules, as from every policy
//
// This is the only policy that makes a cycle impure, because the same model at the same time gives the same decisions
// only if the server gives the same answers. Therefore, the package is outside internal/scheduler, and a program that
// uses the policy must register it. The time is limited to httpTimeout for each request, and to ten times httpTimeout
// for all requests in a cycle. Later requests count as not answered. Equal questions in a cycle are sent only once.
//
// # Concurrency
//
// A Policy belongs to the goroutine of its engine, which waits for each answer.
package extender

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/internal/explain"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
	"github.com/vc-batch/vc/internal/scheduler/queue"
	"github.com/vc-batch/vc/internal/scheduler/session"
)

const name = "extender"

// patience is the time after a refusal before another request is sent, because the server's answer may change without a
// notification.
const patience = 5 * time.Second

// register registers the policy once, no matter how many callers need it.
var register = sync.OnceValue(func() error {
	return scheduler.Register(name, func(p config.Plugin, warn func(string)) session.Policy { return New(p, http.DefaultTransport, warn) })
})

// RegisterPolicy registers the policy for engines that are created afterwards.
func RegisterPolicy() error { return register() }

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
	again  time.Time        // when to send another request after a refusal; zero if not needed
	fits   map[pair]refusal // answers in this cycle
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
		say("argument extender.httpTimeout: must be a duration such as 1s, not " + text("httpTimeout", "") + "; 1s is used")
		timeout = time.Second
	}
	p.asker = asker{prefix: strings.TrimSuffix(text("urlPrefix", ""), "/"), timeout: timeout, client: &http.Client{Transport: transport, Timeout: timeout}}
	for _, key := range verbs {
		if verb := strings.Trim(text(key, ""), "/"); verb != "" {
			p.verbs[key] = verb
		}
	}
	if !strings.HasPrefix(p.asker.prefix, "http://") && !strings.HasPrefix(p.asker.prefix, "https://") {
		say("argument extender.urlPrefix: must start with http:// or https://; the extender is disabled")
		clear(p.verbs)
	}
	p.managed = parseManaged(conf.Arguments["extender.managedResources"], say)
	return p
}

// parseManaged reads the list of resources. It accepts a list of names, a list of objects with a name as in
// kube-scheduler, and a text with comma-separated names.
func parseManaged(raw any, say func(string)) map[string]bool {
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
				say("argument extender.managedResources: an entry that is not a resource name is ignored")
				continue
			}
			add(name)
		}
	default:
		say("argument extender.managedResources: must be a list of resource names; the argument is ignored")
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

func (p *Policy) isVerbEnabled(verb, enabled string) bool {
	return p.verbs[verb] != "" && (enabled == "" || p.conf.Enabled(enabled))
}

// Open registers a rule for each configured verb.
func (p *Policy) Open(s *session.Session) {
	p.s, p.opened, p.fits, p.goes = s, false, map[pair]refusal{}, map[victim]bool{}
	p.asker.beginCycle()
	switch {
	case p.again.IsZero():
	case s.Now.Before(p.again):
		s.WakeAt(p.again)
	default:
		s.WakeAll, p.again = true, time.Time{}
	}
	r := &s.Rules
	if p.isVerbEnabled(queueOverused, "enabledOverused") {
		r.Overused = append(r.Overused, p.checkOverused)
	}
	if p.isVerbEnabled(jobEnqueueable, "enableJobEnqueued") {
		r.Vote(p.voteOnAdmission)
	}
	if p.isVerbEnabled(jobEnqueued, "enableJobEnqueued") {
		r.Enqueued = append(r.Enqueued, func(j *framework.Job) {
			_ = p.sendToServer(jobEnqueued, map[string]any{"job": p.jobRequestBody(j)}, &struct{}{})
		})
	}
	if p.isVerbEnabled(jobReady, "enableJobReady") {
		r.Ready = append(r.Ready, p.checkReady)
	}
	if p.isVerbEnabled(preemptable, "enablePreemptable") || p.isVerbEnabled(reclaimable, "enableReclaimable") {
		r.Guard(p.restrictVictims)
	}
	rule := framework.NodeRule{Name: name, Remote: true, Applies: func(_ *framework.Job, t *model.Task) bool {
		return p.managesPod(t) && (p.isVerbEnabled(predicate, "enablePredicate") || p.isVerbEnabled(prioritize, "enableNodeOrder"))
	}}
	if p.isVerbEnabled(predicate, "enablePredicate") {
		rule.Allows = p.askForFit
	}
	if p.isVerbEnabled(prioritize, "enableNodeOrder") {
		rule.Rank = p.askForScores
	} else {
		rule.Expensive = func(*framework.Job, *model.Task) bool { return true }
	}
	if p.isVerbEnabled(allocated, "") || p.isVerbEnabled(deallocated, "") {
		rule.Placed = p.reportPlacement
	}
	r.Nodes = append(r.Nodes, rule)
}

// Close notifies the server that the cycle has ended, if the server has received any request in this cycle.
func (p *Policy) Close(*session.Session) {
	if p.opened && p.isVerbEnabled(sessionClose, "") {
		_ = p.asker.postRequest(p.verbs[sessionClose], struct{}{}, &struct{}{})
	}
}

// managesPod reports whether a pod is sent to the server.
func (p *Policy) managesPod(t *model.Task) bool {
	if p.managed == nil {
		return true
	}
	return slices.ContainsFunc(t.Shape.Request, func(term resource.Term) bool { return p.managed[p.s.Cluster.Resources.Name(int(term.Index))] })
}

// sendToServer sends a request. Before the first request in a cycle, it sends the snapshot of the cluster.
func (p *Policy) sendToServer(verb string, body, reply any) error {
	if !p.opened {
		p.opened = true
		if p.isVerbEnabled(sessionOpen, "") {
			_ = p.asker.postRequest(p.verbs[sessionOpen], p.snapshotRequestBody(), &struct{}{})
		}
	}
	return p.asker.postRequest(p.verbs[verb], body, reply)
}

func (p *Policy) askForFit(_ *framework.Job, t *model.Task, id model.NodeID, _ bool) (reason.Code, string) {
	key := pair{t, id}
	r, known := p.fits[key]
	if !known {
		var reply struct {
			Status string
			Code   int
		}
		err := p.sendToServer(predicate, map[string]any{"task": p.taskRequestBody(t), "node": p.nodeRequestBody(id)}, &reply)
		switch {
		case err != nil && !p.ignorable:
			r = refusal{reason.ExtenderFailed, err.Error()}
		case err == nil && (reply.Status != "" || reply.Code != 0):
			r = refusal{reason.ExtenderRefused, truncateText(reply.Status)}
		}
		p.fits[key] = r
		if r.code != "" {
			p.scheduleRetry()
		}
	}
	return r.code, r.detail
}

func (p *Policy) askForScores(_ *framework.Job, t *model.Task, nodes []model.NodeID, points []float64) {
	list := make([]nodeInfo, len(nodes))
	for i, id := range nodes {
		list[i] = p.nodeRequestBody(id)
	}
	var reply struct {
		NodeScore    map[string]float64
		ErrorMessage string
	}
	if err := p.sendToServer(prioritize, map[string]any{"task": p.taskRequestBody(t), "nodes": list}, &reply); err != nil || reply.ErrorMessage != "" {
		return
	}
	for i := range nodes {
		points[i] += reply.NodeScore[list[i].Name]
	}
}

func (p *Policy) reportPlacement(_ *framework.Job, t *model.Task, id model.NodeID, sign int) {
	verb := allocated
	if sign < 0 {
		verb = deallocated
	}
	if !p.isVerbEnabled(verb, "") || !p.managesPod(t) {
		return
	}
	task := p.taskRequestBody(t)
	task.NodeName = p.s.View.Nodes.Name[id]
	_ = p.sendToServer(verb, map[string]any{"task": task}, &struct{}{})
}

func (p *Policy) checkOverused(q *queue.Queue) explain.Verdict {
	var reply struct{ Overused bool }
	err := p.sendToServer(queueOverused, map[string]any{"queue": p.queueRequestBody(q)}, &reply)
	if p.serverAgrees(err, !reply.Overused) {
		return explain.Verdict{}
	}
	return p.refusalVerdict(err, "queue "+q.Name+" uses more than its share, according to the extender")
}

func (p *Policy) voteOnAdmission(j *framework.Job) (framework.Vote, explain.Verdict) {
	var reply struct{ Status int }
	switch err := p.sendToServer(jobEnqueueable, map[string]any{"job": p.jobRequestBody(j)}, &reply); {
	case err != nil && p.ignorable:
		return framework.Abstain, explain.Verdict{}
	case err != nil || reply.Status < 0:
		return framework.Reject, p.refusalVerdict(err, "the extender does not admit the job to its queue")
	case reply.Status > 0:
		return framework.Permit, explain.Verdict{}
	}
	return framework.Abstain, explain.Verdict{}
}

// checkReady prevents the gang from starting if the server does not agree. If the server does not answer, the gang
// starts only if the server may be ignored. In Volcano, it always starts in that case.
func (p *Policy) checkReady(j *framework.Job) explain.Verdict {
	var reply struct{ Status bool }
	err := p.sendToServer(jobReady, map[string]any{"job": p.jobRequestBody(j)}, &reply)
	if p.serverAgrees(err, reply.Status) {
		return explain.Verdict{}
	}
	return p.refusalVerdict(err, "the extender reports that the job is not ready")
}

// serverAgrees reports whether the server agrees. A server that did not answer counts as agreeing if it may be ignored.
func (p *Policy) serverAgrees(err error, answer bool) bool {
	if err != nil {
		return p.ignorable
	}
	return answer
}

// scheduleRetry schedules another request to the server.
func (p *Policy) scheduleRetry() {
	if p.again.IsZero() {
		p.again = p.s.Now.Add(patience)
		p.s.WakeAt(p.again)
	}
}

func (p *Policy) refusalVerdict(err error, text string) explain.Verdict {
	p.scheduleRetry()
	if err != nil {
		return explain.Verdict{Code: reason.ExtenderFailed, Detail: "check the extender: " + err.Error()}
	}
	return explain.Verdict{Code: reason.ExtenderRefused, Detail: text}
}

// restrictVictims restricts the possible victims to the pods whose eviction the server permits. It permits no eviction
// that the other policies do not permit.
func (p *Policy) restrictVictims(a *framework.Attack) framework.Guard {
	verb := ""
	switch {
	case (a.Kind == framework.Preempt || a.Kind == framework.GangPreempt) && p.isVerbEnabled(preemptable, "enablePreemptable"):
		verb = preemptable
	case (a.Kind == framework.Reclaim || a.Kind == framework.GangReclaim) && p.isVerbEnabled(reclaimable, "enableReclaimable"):
		verb = reclaimable
	}
	if verb == "" || a.Taker == nil || len(a.Tasks) == 0 {
		return framework.Guard{Code: reason.ExtenderRefused, May: func([]*model.Task) (bool, string) { return true, "" }}
	}
	return framework.Guard{Code: reason.ExtenderRefused, May: func(victims []*model.Task) (bool, string) {
		for _, t := range victims {
			if p.managesPod(t) && !p.mayEvictTask(verb, a, t) {
				return false, "the extender"
			}
		}
		return true, ""
	}}
}

func (p *Policy) mayEvictTask(verb string, a *framework.Attack, t *model.Task) bool {
	key := victim{a.Kind, a.Taker, t}
	if may, known := p.goes[key]; known {
		return may
	}
	var reply struct {
		Status  int
		Victims []struct{ UID string }
	}
	err := p.sendToServer(verb, map[string]any{"evictor": p.taskRequestBody(a.Tasks[0]), "evictees": []taskInfo{p.taskRequestBody(t)}}, &reply)
	may := p.serverAgrees(err, reply.Status == 0) // status 0 means that the server has no opinion
	if err == nil && reply.Status > 0 {
		for _, v := range reply.Victims {
			may = may || v.UID == string(t.UID)
		}
	}
	p.goes[key] = may
	return may
}

// truncateText truncates a text from the server to the length that fits into an explanation.
func truncateText(text string) string {
	const most = 100
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
