package differential

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	"github.com/vc-batch/vc/test/apiserver"
)

var (
	requests = flag.Int("differential.requests", 1500, "number of random requests to compare")
	seed     = flag.Uint64("differential.seed", 1, "seed of the random requests")
	most     = flag.Int("differential.differences", 20, "number of differences after which the test ends")
)

// requestsPerRound is the number of requests before the test uses new namespaces.
const requestsPerRound = 500

var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(api.AddToScheme(s))
	return s
}()

// TestRequestsHaveTheSameEffectsAsOnTheRealServer sends random requests to both servers.
func TestRequestsHaveTheSameEffectsAsOnTheRealServer(t *testing.T) {
	withRealServer(t, func(config *rest.Config) {
		c := newComparison(t, config)
		for n := 0; n < *requests && c.differences < *most; n++ {
			if n%requestsPerRound == 0 {
				c.startRound()
			}
			if n%requestsPerRound == requestsPerRound/2 {
				c.compare(c.deleteNamespace())
			}
			c.compare(c.world.draw())
		}
		c.compareAll()
		t.Logf("%d requests compared, %d of them successful writes, %d differences", c.compared, c.writes, c.differences)
	})
}

// comparison sends requests to both servers and compares the responses.
type comparison struct {
	t           *testing.T
	server      *apiserver.Server
	ours, real  *side
	world       *world
	compared    int
	writes      int
	differences int
	log         []string     // all operations
	broken      map[key]bool // objects that differ already
}

func newComparison(t *testing.T, config *rest.Config) *comparison {
	server := apiserver.New(scheme, time.Now)
	remote, err := newRealServer(config, server)
	if err != nil {
		t.Fatal(err)
	}
	c := &comparison{
		t: t, server: server,
		broken: map[key]bool{},
		ours:   newSide(server.Do),
		real:   newSide(func(r *request) (runtime.Object, error) { return remote.Do(context.Background(), r) }),
		world:  &world{Rand: rand.New(rand.NewPCG(*seed, 1))},
	}
	c.world.kinds = c.world.newKinds()
	for name, value := range map[string]int32{"system-node-critical": 2000001000, "system-cluster-critical": 2000000000} {
		class := &request{Verb: apiserver.Create, Kind: schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}}
		class.Object = priorityClass(name, value)
		if _, err := server.Do(class); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// startRound creates new namespaces, so that the objects of the last round do not matter any more.
func (c *comparison) startRound() {
	c.world.round++
	for n := range 3 {
		at := key{kind: corev1.SchemeGroupVersion.WithKind("Namespace"), name: c.world.namespace(n)}
		c.compare(operation{at, "create", func(*side) *request {
			r := newRequest(apiserver.Create, at, "")
			r.Object = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: at.name}}
			return r
		}})
		// Pods need a service account. Without tokens, it does not add volumes to them.
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: at.name}, AutomountServiceAccountToken: new(false)}
		r := &request{Verb: apiserver.Create, Kind: corev1.SchemeGroupVersion.WithKind("ServiceAccount"), Namespace: at.name, Name: "default", Object: account}
		if _, err := c.real.do(r); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *comparison) deleteNamespace() operation {
	at := key{kind: corev1.SchemeGroupVersion.WithKind("Namespace"), name: c.world.namespace(2)}
	return operation{at, "delete", func(*side) *request { return newRequest(apiserver.Delete, at, "") }}
}

// compare sends a request to both servers and compares the responses and the object after it.
func (c *comparison) compare(o operation) {
	c.compared++
	ours, ourErr := c.send(c.ours, o)
	real, realErr := c.send(c.real, o)
	text := fmt.Sprintf("request %d: %s: %s", c.compared, o.key, o.text)
	c.log = append(c.log, text)
	isRead := o.text == "get" || o.text == "list"
	if ourErr == nil && !isRead {
		c.writes++
	}
	if o.text == "list" && ourErr == nil && realErr == nil {
		ours, real = c.withoutOthers(o.key, ours), c.withoutOthers(o.key, real)
	}
	if o.text == "delete" || strings.HasPrefix(o.text, "delete with") {
		ours, real = nil, nil // clients do not read the response
	}
	if strings.HasPrefix(o.text, "bind") {
		ours, real = nil, nil
	}
	diff := difference(outcomeOf(c.real, real, realErr), outcomeOf(c.ours, ours, ourErr))
	if diff == "" && !isRead {
		diff = c.compareObject(o.key)
	}
	if diff != "" && !c.broken[o.key] {
		c.broken[o.key] = true
		c.report(o.key, text, fmt.Sprintf("%s\nreal error: %v\nour error:  %v", diff, realErr, ourErr))
	}
}

// withoutOthers returns a list without objects of the API server itself and without objects that differ already.
func (c *comparison) withoutOthers(k key, list runtime.Object) runtime.Object {
	var kept []runtime.Object
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		object, err := meta.Accessor(o)
		if err == nil && isDrawn(object.GetNamespace()+"/"+object.GetName()) && !c.broken[key{k.kind, object.GetNamespace(), object.GetName()}] {
			kept = append(kept, o.DeepCopyObject())
		}
		return err
	})
	if err := meta.SetList(list, kept); err != nil {
		c.t.Fatal(err)
	}
	return list
}

// isDrawn reports whether an object was drawn by this test.
func isDrawn(name string) bool { return strings.HasPrefix(strings.TrimPrefix(name, "/"), "r") }

// compareObject compares an object, and whether it has a new version.
func (c *comparison) compareObject(k key) string {
	if k.name == "" {
		return ""
	}
	ours, real := c.ours.read(k), c.real.read(k)
	isNewHere, isNewThere := c.ours.isNew(k, ours), c.real.isNew(k, real)
	for _, observed := range []struct {
		side   *side
		object client.Object
	}{{c.ours, ours}, {c.real, real}} {
		if observed.object != nil {
			observed.side.observe(k, observed.object)
		}
	}
	diff := difference(c.real.normalize(toObject(real)), c.ours.normalize(toObject(ours)))
	if diff == "" && isNewHere != isNewThere {
		diff = fmt.Sprintf("new version: real %v, ours %v", isNewThere, isNewHere)
	}
	return diff
}

func toObject(o client.Object) runtime.Object {
	if o == nil {
		return nil
	}
	return o
}

// isNew reports whether an object has a version that was not observed before.
func (s *side) isNew(k key, object client.Object) bool {
	versions := s.versions[k]
	if object == nil {
		return false
	}
	return len(versions) == 0 || versions[len(versions)-1].GetResourceVersion() != object.GetResourceVersion()
}

func (c *comparison) send(s *side, o operation) (runtime.Object, error) {
	object, err := s.do(o.build(s))
	if created, ok := object.(client.Object); ok && err == nil && strings.HasPrefix(created.GetName(), generatedPrefix) {
		s.observe(key{o.key.kind, o.key.namespace, generatedPrefix}, created)
	} else if ok && err == nil && created.GetName() == o.key.name {
		s.observeUID(o.key, created)
	}
	return object, err
}

// report reports a difference with the last operations on the object.
func (c *comparison) report(k key, text, diff string) {
	c.differences++
	var before []string
	for _, line := range c.log[:len(c.log)-1] {
		if strings.Contains(line, ": "+k.String()+": ") {
			before = append(before, line)
		}
	}
	before = before[max(0, len(before)-12):]
	c.t.Errorf("%s\n(- real, + ours)\n%s\nbefore:\n  %s", text, diff, strings.Join(before, "\n  "))
}

// compareAll compares all objects of all kinds, and their order.
func (c *comparison) compareAll() {
	for i := range c.world.kinds {
		k := &c.world.kinds[i]
		list := &request{Verb: apiserver.List, Kind: k.kind}
		ours, ourErr := c.ours.do(list)
		real, realErr := c.real.do(list)
		if ourErr != nil || realErr != nil {
			c.t.Errorf("list %s: %v, %v", k.kind.Kind, ourErr, realErr)
			continue
		}
		if diff := cmp.Diff(itemsOf(c.withoutOthers(key{kind: k.kind}, real)), itemsOf(c.withoutOthers(key{kind: k.kind}, ours))); diff != "" {
			c.differences++
			c.t.Errorf("%s: (- real, + ours)\n%s", k.kind.Kind, diff)
		}
	}
}
