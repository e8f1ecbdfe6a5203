package differential

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
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
	"k8s.io/apimachinery/pkg/watch"
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
		watches := map[schema.GroupVersionKind]func(string) []watch.Event{}
		for i := range c.world.kinds {
			k := c.world.kinds[i].kind
			watches[k] = watchKind(t, config, k)
		}
		for c.compared < *requests && c.differences < *most {
			c.compareRound()
		}
		c.compareAll()
		for _, k := range quotasFirst(c.world.kinds) {
			c.compareChanges(&k, watches[k.kind])
		}
		t.Logf("%d requests compared, %d of them successful writes; %d watched changes; %d differences", c.compared, c.writes, c.changes, c.differences)
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
	changes     int
	differences int
	log         []string     // all operations
	broken      map[key]bool // objects that differ already
	brokenKinds map[schema.GroupVersionKind]bool

	// The times of the last writes to the ResourceQuotas of a namespace and to a Namespace of the real API server.
	quotaChanged, namespaceChanged map[string]time.Time
}

func newComparison(t *testing.T, config *rest.Config) *comparison {
	server := apiserver.New(scheme, time.Now)
	server.ValidateSchemas = true
	remote, err := newRealServer(config, server)
	if err != nil {
		t.Fatal(err)
	}
	c := &comparison{
		t: t, server: server,
		broken: map[key]bool{}, brokenKinds: map[schema.GroupVersionKind]bool{},
		quotaChanged: map[string]time.Time{}, namespaceChanged: map[string]time.Time{},
		ours:  newSide(server.Do),
		real:  newSide(func(r *request) (runtime.Object, error) { return remote.Do(context.Background(), r) }),
		world: &world{Rand: rand.New(rand.NewPCG(*seed, 1))},
	}
	c.world.kinds = c.world.newKinds()
	c.world.exists = func(k key) bool { return c.ours.read(k) != nil }
	for name, value := range map[string]int32{"system-node-critical": 2000001000, "system-cluster-critical": 2000000000} {
		class := &request{Verb: apiserver.Create, Kind: schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}}
		class.Object = priorityClass(name, value)
		if _, err := server.Do(class); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// compareRound compares requests for the objects in new namespaces, of which one is deleted in the meantime. Then, all
// controllers finish their work.
func (c *comparison) compareRound() {
	c.startRound()
	for n := 0; n < requestsPerRound && c.differences < *most; n++ {
		switch {
		case n == requestsPerRound/2:
			c.compare(c.deleteNamespace())
		case n%40 == 39:
			c.compareControllers(8)
		}
		c.compare(c.world.draw())
	}
	for c.differences < *most && c.compareControllers(100) > 0 {
	}
}

// startRound creates new namespaces, so that the objects of the last round do not matter any more.
func (c *comparison) startRound() {
	c.world.round++
	for n := range 3 {
		at := key{kind: corev1.SchemeGroupVersion.WithKind("Namespace"), name: c.world.namespace(n)}
		c.compare(operation{key: at, text: "create", build: func(*side) *request {
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
	return operation{key: at, text: "delete", build: func(*side) *request { return newRequest(apiserver.Delete, at, "") }}
}

// compareControllers sends the next requests of the garbage collector and of other controllers of
// kube-controller-manager, and returns their number.
func (c *comparison) compareControllers(most int) int {
	next := slices.Concat(c.server.GarbageRequests(), c.server.NamespaceRequests(), c.server.VolumeProtectionRequests(), c.server.QuotaRequests())
	next = next[:min(most, len(next))]
	for _, r := range next {
		r.User = "controller"
		c.compare(c.translated(r))
	}
	return len(next)
}

// translated returns the operation of a request that was computed for the in-memory server.
func (c *comparison) translated(r *request) operation {
	at := key{r.Kind, r.Namespace, r.Name}
	text := fmt.Sprintf("controller: %s %s %s", r.Verb, r.Subresource, r.Patch)
	isOutdated := false
	return operation{key: at, text: text, build: func(s *side) *request {
		current := s.read(at)
		if s == c.ours {
			isOutdated = current == nil || versionIn(r) != "" && current.GetResourceVersion() != versionIn(r)
			return r
		}
		if current == nil {
			return r
		}
		if isOutdated {
			current.SetResourceVersion("1")
		}
		translated := *r
		if p := r.Preconditions; p != nil {
			translated.Preconditions = &metav1.Preconditions{UID: new(current.GetUID()), ResourceVersion: new(current.GetResourceVersion())}
		}
		translated.Patch = c.translatedPatch(r.Patch, current)
		if r.Object != nil {
			translated.Object = translatedObject(r.Object, current)
		}
		return &translated
	}}
}

// versionIn returns the resource version on which a request depends, or "".
func versionIn(r *request) string {
	var patch struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	switch {
	case r.Preconditions != nil && r.Preconditions.ResourceVersion != nil:
		return *r.Preconditions.ResourceVersion
	case r.Object != nil:
		return r.Object.GetResourceVersion()
	case json.Unmarshal(r.Patch, &patch) == nil:
		return patch.Metadata.ResourceVersion
	}
	return ""
}

// translatedPatch replaces the UIDs and the resource version in a patch of metadata.
func (c *comparison) translatedPatch(data []byte, current client.Object) []byte {
	if data == nil {
		return nil
	}
	var patch struct {
		Metadata map[string]any `json:"metadata"`
	}
	if err := json.Unmarshal(data, &patch); err != nil {
		c.t.Fatal(err)
	}
	patch.Metadata["uid"], patch.Metadata["resourceVersion"] = current.GetUID(), current.GetResourceVersion()
	owners, _ := patch.Metadata["ownerReferences"].([]any)
	for _, o := range owners {
		owner, _ := o.(map[string]any)
		uid, _ := owner["uid"].(string)
		if symbol, ok := c.ours.symbols[uid]; ok {
			owner["uid"] = c.real.uids[symbol]
		}
	}
	translated, err := json.Marshal(&patch)
	if err != nil {
		c.t.Fatal(err)
	}
	return translated
}

// translatedObject returns the current object with what a controller changed.
func translatedObject(changed, current client.Object) client.Object {
	object, _ := current.DeepCopyObject().(client.Object)
	object.SetManagedFields(nil)
	object.SetFinalizers(changed.GetFinalizers())
	switch o := object.(type) {
	case *corev1.Namespace:
		o.Spec.Finalizers = changed.(*corev1.Namespace).Spec.Finalizers
	case *corev1.ResourceQuota:
		o.Status = changed.(*corev1.ResourceQuota).Status
	}
	return object
}

// compare sends a request to both servers and compares the responses and the object after it.
func (c *comparison) compare(o operation) {
	c.compared++
	ours, ourErr := c.send(c.ours, o)
	theirs, theirErr := c.send(c.real, o)
	text := fmt.Sprintf("request %d: %s: %s", c.compared, o.key, o.text)
	c.log = append(c.log, text)
	isRead := o.text == "get" || o.text == "list"
	if ourErr == nil && !isRead {
		c.writes++
	}
	if o.text == "list" && ourErr == nil && theirErr == nil {
		ours, theirs = c.withoutOthers(o.key, ours), c.withoutOthers(o.key, theirs)
	}
	if o.text == "delete" || strings.HasPrefix(o.text, "delete with") {
		ours, theirs = nil, nil // clients do not read the response
	}
	if strings.HasPrefix(o.text, "bind") || strings.HasPrefix(o.text, "controller: delete") {
		ours, theirs = nil, nil
	}
	if o.text == "list" && c.brokenKinds[o.key.kind] {
		return // the pages differ
	}
	diff := difference(outcomeOf(c.real, theirs, theirErr), outcomeOf(c.ours, ours, ourErr))
	if diff == "" && !isRead {
		diff = c.compareObject(o.key)
	}
	if diff == "" && !isRead && o.key.kind.Kind == "Pod" {
		diff = c.compareQuotas(o.key.namespace)
	}
	if diff != "" && !c.broken[o.key] {
		c.broken[o.key], c.brokenKinds[o.key.kind] = true, true
		c.report(o.key, text, fmt.Sprintf("%s\nreal error: %v\nour error:  %v", diff, theirErr, ourErr))
	}
}

// compareQuotas compares the quotas of a namespace, which change with its pods.
func (c *comparison) compareQuotas(namespace string) string {
	for _, name := range []string{"a", "b", "c"} {
		k := key{corev1.SchemeGroupVersion.WithKind("ResourceQuota"), namespace, name}
		if c.ours.read(k) == nil || c.broken[k] {
			continue
		}
		if diff := c.compareObject(k); diff != "" {
			return k.String() + ": " + diff
		}
	}
	return ""
}

// withoutOthers returns a list without objects of the API server itself and without objects that differ already.
func (c *comparison) withoutOthers(k key, list runtime.Object) runtime.Object {
	var kept []runtime.Object
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		object, err := meta.Accessor(o)
		isGenerated := err == nil && strings.HasPrefix(object.GetName(), generatedPrefix) // these have another order
		if err == nil && isDrawn(object) && !isGenerated && !c.broken[key{k.kind, object.GetNamespace(), object.GetName()}] {
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
func isDrawn(object metav1.Object) bool {
	return isRound.MatchString(object.GetNamespace() + "/" + object.GetName())
}

var isRound = regexp.MustCompile("^/?r[0-9]+-")

// compareObject compares an object, and whether it has a new version.
func (c *comparison) compareObject(k key) string {
	if k.name == "" {
		return ""
	}
	ours, theirs := c.ours.read(k), c.real.read(k)
	isNewHere, isNewThere := c.ours.isNew(k, ours), c.real.isNew(k, theirs)
	for _, observed := range []struct {
		side   *side
		object client.Object
	}{{c.ours, ours}, {c.real, theirs}} {
		if observed.object != nil {
			observed.side.observe(k, observed.object)
		}
	}
	diff := difference(c.real.normalize(toObject(theirs)), c.ours.normalize(toObject(ours)))
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

// admissionDelay is the maximum time until the admission of the real API server observes a changed Namespace or
// ResourceQuota. It reads them from informers, which tests cannot observe.
const admissionDelay = 300 * time.Millisecond

// waitForAdmission waits until the admission of the real API server judges a request by the last changes of the objects
// that matter: the ResourceQuotas for pods, and the Namespace for new objects.
func (c *comparison) waitForAdmission(k key, r *request) {
	var changed time.Time
	if k.kind.Kind == "Pod" && r.IsWrite() {
		changed = c.quotaChanged[k.namespace]
	}
	if namespaceChanged := c.namespaceChanged[k.namespace]; r.Verb == apiserver.Create && namespaceChanged.After(changed) {
		changed = namespaceChanged
	}
	time.Sleep(time.Until(changed.Add(admissionDelay)))
}

// recordForAdmission records a write to an object that admission reads.
func (c *comparison) recordForAdmission(k key) {
	switch k.kind.Kind {
	case "ResourceQuota":
		c.quotaChanged[k.namespace] = time.Now()
	case "Namespace":
		c.namespaceChanged[k.name] = time.Now()
	}
}

func (c *comparison) send(s *side, o operation) (runtime.Object, error) {
	r := o.build(s)
	if s == c.real {
		c.waitForAdmission(o.key, r)
	}
	object, err := s.do(r)
	if o.page != nil && err == nil {
		o.page.record(s, object)
	}
	if s == c.real && r.IsWrite() {
		c.recordForAdmission(o.key)
	}
	if created, ok := object.(client.Object); ok && err == nil && strings.HasPrefix(created.GetName(), generatedPrefix) {
		s.observeUID(key{o.key.kind, o.key.namespace, generatedPrefix}, created)
		remove := newRequest(apiserver.Delete, key{o.key.kind, o.key.namespace, created.GetName()}, "")
		if _, err := s.do(remove); err != nil {
			c.t.Errorf("delete %s: %v", created.GetName(), err)
		}
	} else if ok && err == nil {
		s.observeUID(key{o.key.kind, o.key.namespace, created.GetName()}, created)
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
		theirs, theirErr := c.real.do(list)
		if ourErr != nil || theirErr != nil {
			c.t.Errorf("list %s: %v, %v", k.kind.Kind, ourErr, theirErr)
			continue
		}
		if diff := cmp.Diff(itemsOf(c.withoutOthers(key{kind: k.kind}, theirs)), itemsOf(c.withoutOthers(key{kind: k.kind}, ours))); diff != "" {
			c.differences++
			c.t.Errorf("%s: (- real, + ours)\n%s", k.kind.Kind, diff)
		}
	}
}

// quotasFirst returns the kinds with ResourceQuotas first. compareChanges creates a last object of each kind on the real API
// server only, and a pod among them would change quotas.
func quotasFirst(kinds []kindOfObjects) []kindOfObjects {
	isQuota := func(k kindOfObjects) bool { return k.kind.Kind == "ResourceQuota" }
	i := slices.IndexFunc(kinds, isQuota)
	return slices.Concat(kinds[i:i+1], kinds[:i], kinds[i+1:])
}

// compareChanges compares all changes of the objects of a kind, in their order.
func (c *comparison) compareChanges(k *kindOfObjects, watched func(string) []watch.Event) {
	const last = "last-of-all"
	for n := 0; ; n++ {
		object := c.world.withName(k, last)
		create := &request{User: "tester", Verb: apiserver.Create, Kind: k.kind, Namespace: object.GetNamespace(), Object: object}
		_, err := c.real.do(create)
		if err == nil {
			break
		}
		if n == 100 {
			c.t.Fatal(err)
		}
	}
	var theirs, ours []string
	for _, e := range watched(last) {
		theirs = c.appendChange(theirs, c.real, k, string(e.Type), e.Object)
	}
	for _, change := range c.server.History {
		if change.Kind != k.kind {
			continue
		}
		kind, object := watch.Modified, change.Object
		switch {
		case change.Old == nil:
			kind = watch.Added
		case change.Object == nil:
			kind, object = watch.Deleted, change.Old
		}
		ours = c.appendChange(ours, c.ours, k, string(kind), object)
	}
	c.changes += len(theirs)
	if k.kind.Kind == "ResourceQuota" {
		// The real API server writes the quotas that a pod uses in a random order.
		slices.Sort(theirs)
		slices.Sort(ours)
	}
	if diff := cmp.Diff(theirs, ours); diff != "" {
		c.differences++
		c.t.Errorf("changes of %s: (- real, + ours)\n%.3000s", k.kind.Kind, diff)
	}
}

func (c *comparison) appendChange(list []string, s *side, k *kindOfObjects, kind string, o runtime.Object) []string {
	object, ok := o.(client.Object)
	if !ok || !isDrawn(object) || c.broken[key{k.kind, object.GetNamespace(), object.GetName()}] {
		return list
	}
	return append(list, kind+" "+asText(s.normalize(object)))
}

// withName returns an object with a name, which may be invalid.
func (w *world) withName(k *kindOfObjects, name string) client.Object {
	object := k.draw(w)
	object.SetName(name)
	if k.namespaced {
		object.SetNamespace(w.namespace(0))
	}
	return object
}
