package extender_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/extender"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// opinion is a fake extender server.
type opinion struct {
	*httptest.Server
	asked   []string
	bodies  map[string]map[string]any
	answers map[string]string // by verb; "slow" exceeds the timeout, "broken" fails
}

func newOpinion(t *testing.T, answers map[string]string) *opinion {
	o := &opinion{answers: answers, bodies: map[string]map[string]any{}}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		verb := strings.TrimPrefix(r.URL.Path, "/vc/")
		body := map[string]any{}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		o.asked, o.bodies[verb] = append(o.asked, verb), body
		answer := o.answers[verb]
		if task, ok := body["task"].(map[string]any); ok && strings.Contains(answer, "%node%") {
			_ = task
			answer = strings.ReplaceAll(answer, "%node%", fmt.Sprint(body["node"].(map[string]any)["Name"]))
		}
		switch answer {
		case "broken":
			http.Error(w, "no", http.StatusInternalServerError)
		case "slow":
			<-r.Context().Done()
		default:
			_, _ = io.WriteString(w, answer)
		}
	}))
	t.Cleanup(o.Close)
	return o
}

// world returns a cluster with two nodes and a gang of two.
func world(t *testing.T, o *opinion, arguments string, verbs ...string) (*scheduler.Engine, *model.Cluster) {
	t.Helper()
	if err := extender.RegisterPolicy(); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "actions: \"enqueue, allocate\"\ntiers:\n- plugins:\n  - name: gang\n  - name: proportion\n  - name: extender\n    arguments:\n      extender.urlPrefix: %s/vc\n", o.URL)
	for _, verb := range verbs {
		fmt.Fprintf(&text, "      extender.%s: %s\n", verb, verb)
	}
	text.WriteString(arguments)
	cfg, _, err := config.Parse([]byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	engine, err := scheduler.New(cfg)
	if err != nil || len(engine.Warnings) > 0 {
		t.Fatal(err, engine.Warnings)
	}
	c := model.New()
	c.Apply(model.QueueFrom(make.Queue("default").Obj()))
	for _, name := range []string{"a", "b"} {
		c.Apply(model.NodeFrom(make.Node(name).CPU("4").Memory("4Gi").Obj()))
	}
	c.Apply(model.GangFrom(make.Gang("g").Min(2).MinResource("cpu", "2").Obj()))
	for i := range 2 {
		c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("g-%d", i)).Gang("g").CPU("1").Obj(), true))
	}
	return engine, c
}

func cycle(e *scheduler.Engine, c *model.Cluster, now time.Time) decision.Decisions {
	d := e.Cycle(now, c)
	decision.Assume(c, &d)
	return d
}

func binds(d *decision.Decisions) string {
	var out []string
	for _, b := range d.Binds {
		out = append(out, b.Pod.Name+"→"+b.Node)
	}
	return strings.Join(out, " ")
}

func why(d *decision.Decisions) string {
	for _, g := range d.Gangs {
		if e := g.Status.Explanation; e != nil {
			out := e.Reason
			for _, n := range e.Nodes {
				out += fmt.Sprintf(" %d %s", n.Count, n.Reason)
			}
			return out
		}
	}
	return ""
}

func TestTheServerHasItsSay(t *testing.T) {
	cases := map[string]struct {
		verbs     []string
		answers   map[string]string
		arguments string
		binds     string
		why       string
	}{
		"without objections all is placed": {
			verbs: []string{"predicateVerb"}, answers: map[string]string{"predicateVerb": "{}"}, binds: "g-0→a g-1→a",
		},
		"nodes that it refuses are not used": {
			verbs: []string{"predicateVerb"}, answers: map[string]string{"predicateVerb": `{"status":"not %node%","code":2}`},
			why: "GangDoesNotFit 1 ExtenderRefused 1 ExtenderRefused",
		},
		"it prefers a node": {
			verbs: []string{"prioritizeVerb"}, answers: map[string]string{"prioritizeVerb": `{"nodeScore":{"b":1000}}`}, binds: "g-0→b g-1→b",
		},
		"what it says of order does not count when it failed": {
			verbs: []string{"prioritizeVerb"}, answers: map[string]string{"prioritizeVerb": `{"nodeScore":{"b":1000},"errorMessage":"x"}`}, binds: "g-0→a g-1→a",
		},
		"an answer that does not come is a no": {
			verbs: []string{"predicateVerb"}, answers: map[string]string{"predicateVerb": "broken"}, why: "GangDoesNotFit 2 ExtenderFailed",
		},
		"and a yes when it may be ignored": {
			verbs: []string{"predicateVerb"}, answers: map[string]string{"predicateVerb": "broken"}, arguments: "      extender.ignorable: true\n", binds: "g-0→a g-1→a",
		},
		"a slow answer is none": {
			verbs: []string{"predicateVerb"}, answers: map[string]string{"predicateVerb": "slow"}, arguments: "      extender.httpTimeout: 20ms\n", why: "GangDoesNotFit 2 ExtenderFailed",
		},
		"nonsense is none": {
			verbs: []string{"predicateVerb"}, answers: map[string]string{"predicateVerb": "<html>"}, why: "GangDoesNotFit 2 ExtenderFailed",
		},
		"pods without a managed resource are not sent": {
			verbs: []string{"predicateVerb"}, answers: map[string]string{"predicateVerb": "broken"},
			arguments: "      extender.managedResources: [{name: example.com/fpga}]\n", binds: "g-0→a g-1→a",
		},
		"pods with one are": {
			verbs: []string{"predicateVerb"}, answers: map[string]string{"predicateVerb": "broken"},
			arguments: "      extender.managedResources: [example.com/fpga, cpu]\n", why: "GangDoesNotFit 2 ExtenderFailed",
		},
		"a queue may have enough": {
			verbs: []string{"queueOverusedVerb"}, answers: map[string]string{"queueOverusedVerb": `{"overused":true}`}, why: "ExtenderRefused",
		},
		"a job may not be let in": {
			verbs: []string{"jobEnqueueableVerb"}, answers: map[string]string{"jobEnqueueableVerb": `{"status":-1}`}, why: "ExtenderRefused",
		},
		"a job that is let in is told of": {
			verbs: []string{"jobEnqueueableVerb", "jobEnqueuedVerb"}, answers: map[string]string{"jobEnqueueableVerb": `{"status":1}`}, binds: "g-0→a g-1→a",
		},
		"a job that fits may not be ready": {
			verbs: []string{"jobReadyVerb"}, answers: map[string]string{"jobReadyVerb": `{"status":false}`}, why: "ExtenderRefused",
		},
		"a job of which it says nothing because it fails is held, other than in Volcano": {
			verbs: []string{"jobReadyVerb"}, answers: map[string]string{"jobReadyVerb": "broken"}, why: "ExtenderFailed",
		},
		"it hears of what is placed": {
			verbs: []string{"allocateFuncVerb", "deallocateFuncVerb", "onSessionOpenVerb", "onSessionCloseVerb"}, binds: "g-0→a g-1→a",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := newOpinion(t, c.answers)
			engine, cluster := world(t, o, c.arguments, c.verbs...)
			d := cycle(engine, cluster, make.Epoch)
			if got := binds(&d); got != c.binds {
				t.Errorf("bound %q, want %q", got, c.binds)
			}
			if got := why(&d); got != c.why {
				t.Errorf("waits for %q, want %q", got, c.why)
			}
			if isError := strings.Contains(c.why, "ExtenderFailed"); isError != (d.Stats.GangsFailed > 0) {
				t.Errorf("%d attempts ended with an error", d.Stats.GangsFailed)
			}
			for _, verb := range c.verbs {
				if !slices.Contains(o.asked, verb) && verb != "deallocateFuncVerb" && len(c.answers[verb]) == 0 && c.answers[verb] != "slow" {
					t.Errorf("%s was not asked; asked were %v", verb, o.asked)
				}
			}
		})
	}
}

func TestServerReceivesTheStateOfACycle(t *testing.T) {
	o := newOpinion(t, map[string]string{"predicateVerb": "{}"})
	engine, cluster := world(t, o, "", "onSessionOpenVerb", "predicateVerb", "allocateFuncVerb", "onSessionCloseVerb")
	cycle(engine, cluster, make.Epoch)
	if first, last := o.asked[0], o.asked[len(o.asked)-1]; first != "onSessionOpenVerb" || last != "onSessionCloseVerb" {
		t.Errorf("asked %v", o.asked)
	}
	for _, key := range []string{"Jobs", "Nodes", "Queues", "NamespaceInfo", "RevocableNodes", "NodeList"} {
		if _, ok := o.bodies["onSessionOpenVerb"][key]; !ok {
			t.Errorf("%s is missing", key)
		}
	}
	task := o.bodies["predicateVerb"]["task"].(map[string]any)
	node := o.bodies["predicateVerb"]["node"].(map[string]any)
	if task["Job"] != "default/g" || task["Resreq"].(map[string]any)["MilliCPU"] != 1000.0 || node["Allocatable"].(map[string]any)["MilliCPU"] != 4000.0 {
		t.Errorf("told of %v on %v", task, node)
	}
	if task := o.bodies["allocateFuncVerb"]["task"].(map[string]any); task["NodeName"] != "a" {
		t.Errorf("told of an allocation %v", task)
	}
}

func TestARefusalIsAskedAgain(t *testing.T) {
	o := newOpinion(t, map[string]string{"predicateVerb": `{"status":"no"}`})
	engine, cluster := world(t, o, "", "predicateVerb")
	d := cycle(engine, cluster, make.Epoch)
	if d.WakeAt.IsZero() || d.WakeAt.Sub(make.Epoch) > 5*time.Second {
		t.Fatalf("wakes at %s", d.WakeAt)
	}
	cycle(engine, cluster, make.Epoch.Add(time.Second)) // its phase was written
	o.answers["predicateVerb"] = "{}"
	before := len(o.asked)
	cycle(engine, cluster, make.Epoch.Add(2*time.Second))
	if len(o.asked) != before {
		t.Error("asked though nothing changed and it is too early")
	}
	if d := cycle(engine, cluster, make.Epoch.Add(5*time.Second)); len(d.Binds) != 2 {
		t.Errorf("bound %q", binds(&d))
	}
}

func TestACyclesTimeIsBounded(t *testing.T) {
	o := newOpinion(t, map[string]string{"predicateVerb": "slow"})
	engine, cluster := world(t, o, "      extender.httpTimeout: 10ms\n", "predicateVerb")
	for i := range 200 {
		cluster.Apply(model.NodeFrom(make.Node(fmt.Sprintf("n%d", i)).CPU("4").Memory("4Gi").Obj()))
	}
	begin := time.Now()
	d := cycle(engine, cluster, make.Epoch)
	if took := time.Since(begin); took > time.Second || why(&d) == "" {
		t.Errorf("took %s; waits for %q", took, why(&d))
	}
}

func TestVictimsAreNarrowed(t *testing.T) {
	for answer, want := range map[string]int{`{"status":1,"victims":[{"UID":"pod-old"}]}`: 1, `{"status":1,"victims":[]}`: 0, `{"status":-1}`: 0, `{"status":0}`: 1, "broken": 0} {
		o := newOpinion(t, map[string]string{"reclaim": answer})
		if err := extender.RegisterPolicy(); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := config.Parse(fmt.Appendf(nil, `
actions: "enqueue, allocate, reclaim"
tiers:
- plugins: [{name: gang}, {name: proportion}, {name: extender, arguments: {extender.urlPrefix: "%s/vc", extender.reclaimableVerb: reclaim, extender.preemptableVerb: preempt}}]
`, o.URL))
		if err != nil {
			t.Fatal(err)
		}
		engine, err := scheduler.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		c := model.New()
		c.Apply(model.QueueFrom(make.Queue("default").Obj()), model.QueueFrom(make.Queue("other").Obj()), model.NodeFrom(make.Node("a").CPU("4").Memory("4Gi").Obj()),
			model.GangFrom(make.Gang("old").Obj()), model.TaskFrom(make.Pod("old").Gang("old").CPU("4").On("a").Phase(corev1.PodRunning).Obj(), true),
			model.GangFrom(make.Gang("new").Queue("other").MinResource("cpu", "2").Obj()), model.TaskFrom(make.Pod("new").Gang("new").CPU("2").Obj(), true))
		evicts := 0
		for i := range 3 {
			d := cycle(engine, c, make.Epoch.Add(time.Duration(i)*time.Second))
			evicts += len(d.Evicts)
		}
		if evicts != want {
			t.Errorf("%s: %d evicted, want %d", answer, evicts, want)
		}
	}
}

func TestInvalidArgumentsAreReported(t *testing.T) {
	var told []string
	extender.New(config.Plugin{Arguments: config.Arguments{
		"extender.urlPrefix": "ftp://x", "extender.httpTimeout": "soon", "extender.managedResources": []any{1},
	}}, nil, func(s string) { told = append(told, s) })
	all := strings.Join(told, "\n")
	for _, word := range []string{"urlPrefix", "httpTimeout", "managedResources"} {
		if !strings.Contains(all, word) {
			t.Errorf("nothing was said of %s: %s", word, all)
		}
	}
}
