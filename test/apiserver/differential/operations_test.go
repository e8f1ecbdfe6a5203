package differential

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	topologyv1alpha1 "github.com/vc-batch/vc/api/topology/v1alpha1"
	"github.com/vc-batch/vc/test/apiserver"
)

type request = apiserver.Request

// generatedPrefix begins the generated names.
const generatedPrefix = "generated-"

// key identifies an object.
type key struct {
	kind            schema.GroupVersionKind
	namespace, name string
}

func (k key) String() string { return k.kind.Kind + " " + k.namespace + "/" + k.name }

// operation is a request that is sent to both servers. build returns the request for one of them, whose UIDs and resource
// versions differ. It must not draw random numbers.
type operation struct {
	key   key
	text  string
	build func(s *side) *request
	page  *page // of a List with a limit; nil otherwise
}

// world draws random operations.
type world struct {
	*rand.Rand
	round int
	// exists reports whether an object exists, so that most requests concern existing objects.
	exists func(key) bool
	// kinds holds the kinds of objects and how their objects are drawn.
	kinds []kindOfObjects
	// pages holds the last page of each List with a limit.
	pages []*page
}

// kindOfObjects describes how objects of a kind are drawn.
type kindOfObjects struct {
	kind       schema.GroupVersionKind
	namespaced bool
	custom     bool
	hasStatus  bool
	weight     int
	// draw returns a new object without a name.
	draw func(w *world) client.Object
	// change changes an object that has been read. status is true if the status is written.
	change func(w *world, status bool) func(client.Object)
	// patches returns patches of the kind's clients.
	patches func(w *world, k key) []patch
}

// patch is a patch with its type. If content contains uidOf or versionOf, they are replaced.
type patch struct {
	subresource string
	kind        types.PatchType
	content     any
}

// reference stands for a value that differs between the servers.
type reference struct {
	what    string // uid or version
	key     key
	back    int  // 0: of the newest version, 1: of the version before it
	foreign bool // a value that does not exist
}

// resolve returns the value of a reference for a server.
func (r reference) resolve(s *side) string {
	versions := s.versions[r.key]
	if r.foreign || len(versions) == 0 {
		if r.what == "uid" {
			return "11111111-2222-4333-8444-555555555555"
		}
		return "1"
	}
	object := versions[max(0, len(versions)-1-r.back)]
	if r.what == "uid" {
		return string(object.GetUID())
	}
	return object.GetResourceVersion()
}

// resolveAll returns a copy of the content of a patch without references.
func resolveAll(s *side, content any) any {
	switch c := content.(type) {
	case reference:
		return c.resolve(s)
	case map[string]any:
		resolved := map[string]any{}
		for name, value := range c {
			resolved[name] = resolveAll(s, value)
		}
		return resolved
	case []any:
		resolved := make([]any, len(c))
		for i := range c {
			resolved[i] = resolveAll(s, c[i])
		}
		return resolved
	}
	return content
}

func pick[T any](w *world, choices ...T) T { return choices[w.IntN(len(choices))] }

// chance reports true in one of n cases.
func (w *world) chance(n int) bool { return w.IntN(n) == 0 }

func (w *world) namespace(n int) string { return fmt.Sprintf("r%d-%d", w.round, n) }

func (w *world) drawNamespace() string {
	if w.chance(60) {
		return "missing"
	}
	return w.namespace(w.IntN(3)) // the last one is deleted during the round
}

// drawKey returns the name of an object that may exist.
func (w *world) drawKey(k *kindOfObjects) key {
	drawn := key{kind: k.kind, name: pick(w, "a", "b", "c")}
	if k.namespaced {
		drawn.namespace = w.drawNamespace()
	} else {
		drawn.name = fmt.Sprintf("r%d-%s", w.round, drawn.name)
	}
	return drawn
}

func (w *world) kindOf(object client.Object) schema.GroupVersionKind {
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil {
		panic(err)
	}
	return kinds[0]
}

// drawReference returns a reference to an object: mostly a right one.
func (w *world) drawReference(what string, k key) reference {
	return reference{what: what, key: k, back: pick(w, 0, 0, 0, 0, 0, 1), foreign: w.chance(12)}
}

// draw returns the next operation.
func (w *world) draw() operation {
	total := 0
	for i := range w.kinds {
		total += w.kinds[i].weight
	}
	n := w.IntN(total)
	for i := range w.kinds {
		if n -= w.kinds[i].weight; n < 0 {
			return w.drawFor(&w.kinds[i])
		}
	}
	panic("no operation")
}

// createShare is the share of requests that create objects, in percent.
const createShare = 24

func (w *world) drawFor(k *kindOfObjects) operation {
	n := w.IntN(100)
	at := w.drawKey(k)
	for range 12 {
		if isCreate := n < createShare; w.exists(at) != isCreate || w.chance(10) {
			break
		}
		at = w.drawKey(k)
	}
	switch {
	case n < createShare:
		return w.drawCreate(k, at)
	case n < 28:
		return operation{key: at, text: "get", build: func(*side) *request { return newRequest(apiserver.Get, at, "") }}
	case n < 34:
		if next, ok := w.drawNextPage(); ok && w.chance(2) {
			return next
		}
		return w.drawList(k, at)
	case n < 50:
		return w.drawUpdate(k, at, k.hasStatus && w.chance(2))
	case n < 76:
		return w.drawPatch(k, at)
	case n < 86 && k.kind.Kind == "Pod":
		return w.drawBinding(at)
	case n < 80:
		return w.drawMissingSubresource(k, at)
	}
	return w.drawDelete(at)
}

func newRequest(verb apiserver.Verb, k key, subresource string) *request {
	return &request{User: "tester", Verb: verb, Kind: k.kind, Namespace: k.namespace, Name: k.name, Subresource: subresource}
}

func (w *world) drawCreate(k *kindOfObjects, at key) operation {
	object := k.draw(w)
	object.SetNamespace(at.namespace)
	object.SetName(at.name)
	text := "create"
	switch n := w.IntN(40); {
	case n == 0 && k.kind.Kind != "PersistentVolumeClaim" && k.kind.Kind != "PersistentVolume":
		object.SetName("")
		object.SetGenerateName(generatedPrefix)
		text = "create with a generated name" // the object is deleted immediately
	case n == 1:
		object.SetLabels(map[string]string{"not a label": "x"})
	case n == 2:
		object.SetName("Not_A_Name!")
	case n == 3:
		object.SetResourceVersion("5")
	case n == 4:
		object.SetUID("22222222-2222-4333-8444-555555555555")
		object.SetGeneration(7)
		now := metav1.Unix(1e9, 0)
		object.SetDeletionTimestamp(&now)
	case n == 5:
		object.SetNamespace("other")
	case n == 6:
		object.SetAnnotations(map[string]string{})
		object.SetLabels(map[string]string{})
		object.SetFinalizers([]string{})
	}
	isGenerated := object.GetName() == ""
	if w.chance(12) && !isGenerated {
		object.SetFinalizers(append(object.GetFinalizers(), pick(w, "example.com/one", "example.com/two")))
	}
	var owners []func(*side) metav1.OwnerReference
	for range pick(w, 0, 0, 0, 1, 1, 2) {
		if isGenerated {
			break
		}
		owners = append(owners, w.drawOwner(at))
	}
	return operation{key: at, text: text, build: func(s *side) *request {
		r := newRequest(apiserver.Create, at, "")
		body, _ := object.DeepCopyObject().(client.Object)
		for _, owner := range owners {
			body.SetOwnerReferences(append(body.GetOwnerReferences(), owner(s)))
		}
		r.Object = body
		return r
	}}
}

func (w *world) drawOwner(of key) func(*side) metav1.OwnerReference {
	owner := key{kind: batchv1alpha1.GroupVersion.WithKind("Job"), namespace: of.namespace, name: pick(w, "a", "b")}
	uid := w.drawReference("uid", owner)
	blocks := pick(w, nil, new(true), new(false))
	return func(s *side) metav1.OwnerReference {
		return metav1.OwnerReference{
			APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job", Name: owner.name, UID: types.UID(uid.resolve(s)), BlockOwnerDeletion: blocks,
		}
	}
}

func (w *world) drawList(k *kindOfObjects, at key) operation {
	selector := pick(w, labels.Selector(nil), nil, labels.SelectorFromSet(labels.Set{"app": "x"}), labels.SelectorFromSet(labels.Set{"app": "y"}))
	var field fields.Selector
	switch w.IntN(6) {
	case 0:
		field = fields.OneTermEqualSelector("metadata.name", at.name)
	case 1:
		field = fields.OneTermEqualSelector("metadata.namespace", w.namespace(0))
	case 2:
		field = fields.OneTermEqualSelector("spec.nodeName", "node-1")
	}
	limit := pick(w, int64(0), 0, 1, 2)
	all := !k.namespaced || w.chance(5)
	if all && !k.custom {
		limit = 0 // there are objects of the API server itself
	}
	r := newRequest(apiserver.List, at, "")
	r.Name, r.Labels, r.Fields, r.Limit = "", selector, field, limit
	if all {
		r.Namespace = ""
	}
	o := operation{key: at, text: "list", build: func(*side) *request { return r }}
	if limit > 0 {
		o.page = &page{key: at, request: r, tokens: map[*side]string{}}
		w.pages = append(w.pages, o.page)
	}
	return o
}

// drawUpdate changes an object that was read, now or earlier.
func (w *world) drawUpdate(k *kindOfObjects, at key, status bool) operation {
	subresource := ""
	if status {
		subresource = "status"
	}
	change := k.change(w, status)
	changeMetadata := w.drawMetadataChange(at)
	back := pick(w, 0, 0, 0, 0, 1)
	version := pick(w, "same", "same", "same", "same", "none", "other")
	uid := pick(w, "same", "same", "same", "same", "none", "other")
	noChange := w.chance(6)
	missing := k.draw(w)
	text := fmt.Sprintf("update %s (version %s, uid %s, back %d)", subresource, version, uid, back)
	return operation{key: at, text: text, build: func(s *side) *request {
		r := newRequest(apiserver.Update, at, subresource)
		object, _ := missing.DeepCopyObject().(client.Object)
		object.SetName(at.name)
		object.SetNamespace(at.namespace)
		if versions := s.versions[at]; len(versions) > 0 {
			object, _ = versions[max(0, len(versions)-1-back)].DeepCopyObject().(client.Object)
		}
		object.SetManagedFields(nil)
		if !noChange {
			change(object)
			changeMetadata(s, object)
		}
		switch version {
		case "none":
			object.SetResourceVersion("")
		case "other":
			object.SetResourceVersion("1")
		}
		switch uid {
		case "none":
			object.SetUID("")
		case "other":
			object.SetUID("33333333-2222-4333-8444-555555555555")
		}
		r.Object = object
		return r
	}}
}

func (w *world) drawMetadataChange(at key) func(*side, client.Object) {
	value := pick(w, "x", "y", "z")
	switch w.IntN(9) {
	case 0:
		return func(_ *side, o client.Object) { o.SetLabels(map[string]string{"app": value}) }
	case 1:
		return func(_ *side, o client.Object) { o.SetAnnotations(map[string]string{"note": value, "other": value}) }
	case 2:
		return func(_ *side, o client.Object) { o.SetFinalizers(nil) }
	case 3:
		return func(_ *side, o client.Object) { o.SetFinalizers([]string{"example.com/" + value}) }
	case 4:
		owner := w.drawOwner(at)
		return func(s *side, o client.Object) { o.SetOwnerReferences([]metav1.OwnerReference{owner(s)}) }
	case 5:
		return func(_ *side, o client.Object) {
			o.SetDeletionTimestamp(nil)
			o.SetGeneration(99)
			o.SetCreationTimestamp(metav1.Unix(1e9, 0))
		}
	}
	return func(*side, client.Object) {}
}

func (w *world) drawPatch(k *kindOfObjects, at key) operation {
	choices := w.metadataPatches(k, at)
	if k.patches != nil && !w.chance(3) {
		choices = k.patches(w, at)
	}
	p := choices[w.IntN(len(choices))]
	if k.custom && p.kind == types.StrategicMergePatchType && !w.chance(20) {
		p.kind = types.MergePatchType
	}
	manager := ""
	if p.kind == types.ApplyPatchType || w.chance(4) {
		manager = pick(w, "vc-scheduler", "vc-scheduler", "vc-scheduler", "other")
	}
	content, err := json.Marshal(describe(p.content))
	if err != nil {
		panic(err)
	}
	return operation{key: at, text: fmt.Sprintf("patch %s as %s with %s %s", p.subresource, manager, p.kind, content), build: func(s *side) *request {
		r := newRequest(apiserver.Patch, at, p.subresource)
		data, err := json.Marshal(resolveAll(s, p.content))
		if err != nil {
			panic(err)
		}
		r.PatchType, r.Patch, r.FieldManager = p.kind, data, manager
		return r
	}}
}

// describe replaces references by texts.
func describe(content any) any {
	switch c := content.(type) {
	case reference:
		return fmt.Sprintf("<%s of %s, back %d, foreign %v>", c.what, c.key, c.back, c.foreign)
	case map[string]any:
		described := map[string]any{}
		for name, value := range c {
			described[name] = describe(value)
		}
		return described
	case []any:
		described := make([]any, len(c))
		for i := range c {
			described[i] = describe(c[i])
		}
		return described
	}
	return content
}

type fieldsOf = map[string]any

func (w *world) metadataPatches(k *kindOfObjects, at key) []patch {
	kind := pick(w, types.MergePatchType, types.MergePatchType, types.StrategicMergePatchType)
	metadata := fieldsOf{"annotations": fieldsOf{"note": pick[any](w, "p", "q", nil)}}
	if w.chance(3) {
		metadata["uid"] = w.drawReference("uid", at)
	}
	if w.chance(4) {
		metadata["resourceVersion"] = w.drawReference("version", at)
	}
	patches := []patch{
		{"", kind, fieldsOf{"metadata": metadata}},
		{"", kind, fieldsOf{"metadata": fieldsOf{"labels": fieldsOf{"app": pick[any](w, "x", "y", nil)}}}},
		{"", types.MergePatchType, fieldsOf{"metadata": fieldsOf{"finalizers": pick[any](w, nil, []any{"example.com/one"}, []any{})}}},
		{"", types.MergePatchType, fieldsOf{}},
		{"", types.MergePatchType, fieldsOf{"metadata": fieldsOf{"name": "renamed"}}},
		{"", types.MergePatchType, fieldsOf{"metadata": fieldsOf{"namespace": "moved"}}},
		{"", types.JSONPatchType, []any{
			fieldsOf{"op": "test", "path": "/metadata/uid", "value": w.drawReference("uid", at)},
			fieldsOf{"op": "add", "path": "/metadata/labels", "value": fieldsOf{"app": pick(w, "x", "y")}},
		}},
		{"", types.JSONPatchType, []any{fieldsOf{"op": "remove", "path": "/metadata/annotations/note"}}},
		{"", types.JSONPatchType, fieldsOf{"op": "not a list"}},
		{"", types.MergePatchType, []any{"not a map"}},
		{"", types.MergePatchType, fieldsOf{"metadata": fieldsOf{"labels": "not a map"}}},
	}
	if k.custom {
		patches = append(patches, w.invalidPatches(k)...)
	}
	if k.hasStatus {
		patches = append(patches,
			patch{"status", types.MergePatchType, fieldsOf{"metadata": metadata}},
			patch{"status", types.MergePatchType, fieldsOf{}},
		)
	}
	return patches
}

// invalidPatches returns patches that violate the schema or a CEL rule of a kind. Values have the right types, because
// the clients of this project encode Go types.
func (w *world) invalidPatches(k *kindOfObjects) (patches []patch) {
	topology := fieldsOf{"networkTopology": fieldsOf{"highestTierAllowed": 1, "highestTierName": "n"}}
	specs := map[string][]fieldsOf{
		"Job": {
			topology, {"minAvailable": -1}, {"minAvailable": 50}, {"plugins": fieldsOf{"unknown": []any{}}}, {"policies": []any{fieldsOf{"action": "Nonsense", "event": "PodFailed"}}},
			{"tasks": []any{fieldsOf{"name": "t", "replicas": -1, "template": w.template()}}}, {"volumes": []any{fieldsOf{"mountPath": "/d"}}},
		},
		"CronJob":   {{"concurrencyPolicy": "Nonsense"}, {"failedJobsHistoryLimit": -1}},
		"PodGroup":  {topology, {"minMember": -1}, {"minTaskMember": fieldsOf{"t": -1}}, {"minResources": fieldsOf{"cpu": "-1"}}},
		"Queue":     {{"weight": -1}, {"capability": fieldsOf{"cpu": "-1"}}, {"deserved": fieldsOf{"cpu": "9"}, "capability": fieldsOf{"cpu": "1"}}, {"guarantee": fieldsOf{"resource": fieldsOf{"cpu": "1"}}}},
		"HyperNode": {{"tier": -1}, {"members": []any{fieldsOf{"type": "Node", "selector": fieldsOf{}}}}, {"members": []any{fieldsOf{"type": "Nonsense", "selector": fieldsOf{"exactMatch": fieldsOf{"name": "n"}}}}}},
	}
	statuses := map[string][]fieldsOf{
		"Job":       {{"state": fieldsOf{"phase": "Nonsense"}}, {"running": -2}},
		"Queue":     {{"state": "Nonsense"}, {"pending": -1}},
		"HyperNode": {{"nodeCount": -1}},
		"Plan":      {{"verdict": "Perhaps"}},
	}
	for _, spec := range specs[k.kind.Kind] {
		patches = append(patches, patch{"", types.MergePatchType, fieldsOf{"spec": spec}})
	}
	for _, status := range statuses[k.kind.Kind] {
		patches = append(patches, patch{"status", types.MergePatchType, fieldsOf{"status": status}})
	}
	return patches
}

func (w *world) drawMissingSubresource(k *kindOfObjects, at key) operation {
	if k.hasStatus || k.kind.Kind == "Service" { // no client writes the status of a service
		return operation{key: at, text: "get", build: func(*side) *request { return newRequest(apiserver.Get, at, "") }}
	}
	return operation{key: at, text: "patch the status of a kind without one", build: func(*side) *request {
		r := newRequest(apiserver.Patch, at, "status")
		r.PatchType, r.Patch = types.MergePatchType, []byte(`{"status":{}}`)
		return r
	}}
}

func (w *world) drawBinding(at key) operation {
	uid := w.drawReference("uid", at)
	withUID := !w.chance(4)
	node := pick(w, "node-1", "node-1", "node-2", "node-2", "")
	annotations := pick(w, nil, map[string]string{"bound": "yes", "note": "by binding"})
	return operation{key: at, text: fmt.Sprintf("bind to %q with uid %v", node, withUID), build: func(s *side) *request {
		r := newRequest(apiserver.Create, at, "binding")
		binding := &corev1.Binding{
			ObjectMeta: metav1.ObjectMeta{Namespace: at.namespace, Name: at.name, Annotations: annotations}, Target: corev1.ObjectReference{Kind: "Node", Name: node},
		}
		if withUID {
			binding.UID = types.UID(uid.resolve(s))
		}
		r.Object = binding
		return r
	}}
}

func (w *world) drawDelete(at key) operation {
	uid, version := w.drawReference("uid", at), w.drawReference("version", at)
	withUID, withVersion := w.chance(2), w.chance(4)
	grace := pick(w, nil, nil, nil, new(int64(0)), new(int64(0)), new(int64(5)), new(int64(1000)), new(int64(-1)))
	propagation := pick(w, nil, nil, new(metav1.DeletePropagationBackground), new(metav1.DeletePropagationForeground), new(metav1.DeletePropagationOrphan))
	text := fmt.Sprintf("delete with uid %v, version %v, grace %v, propagation %v", withUID, withVersion, value(grace), value(propagation))
	return operation{key: at, text: text, build: func(s *side) *request {
		r := newRequest(apiserver.Delete, at, "")
		r.GracePeriod, r.Propagation = grace, propagation
		if withUID || withVersion {
			r.Preconditions = &metav1.Preconditions{}
		}
		if withUID {
			r.Preconditions.UID = new(types.UID(uid.resolve(s)))
		}
		if withVersion {
			r.Preconditions.ResourceVersion = new(version.resolve(s))
		}
		return r
	}}
}

func value[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// newKinds returns the kinds that the components of this project write.
func (w *world) newKinds() []kindOfObjects {
	all := []struct {
		object     client.Object
		namespaced bool
		custom     bool
		hasStatus  bool
		weight     int
		draw       func(w *world) client.Object
		change     func(w *world, status bool) func(client.Object)
		patches    func(w *world, k key) []patch
	}{
		{&corev1.Pod{}, true, false, true, 30, drawPod, changePod, patchesOfPod},
		{&corev1.Node{}, false, false, true, 5, drawNode, changeNode, patchesOfNode},
		{&corev1.ConfigMap{}, true, false, false, 5, drawConfigMap, changeConfigMap, nil},
		{&corev1.Secret{}, true, false, false, 2, drawSecret, changeSecret, nil},
		{&corev1.Service{}, true, false, false, 2, drawService, changeService, nil},
		{&corev1.Event{}, true, false, false, 4, drawEvent, changeEvent, patchesOfEvent},
		{&corev1.PersistentVolumeClaim{}, true, false, true, 3, drawClaim, changeClaim, nil},
		{&corev1.PersistentVolume{}, false, false, true, 2, drawVolume, changeVolume, patchesOfVolume},
		{&corev1.ResourceQuota{}, true, false, true, 1, drawQuota, changeQuota, nil},
		{&schedulingv1.PriorityClass{}, false, false, false, 1, drawPriorityClass, changePriorityClass, nil},
		{&policyv1.PodDisruptionBudget{}, true, false, true, 1, drawBudget, changeBudget, nil},
		{&coordinationv1.Lease{}, true, false, false, 4, drawLease, changeLease, nil},
		{&networkingv1.NetworkPolicy{}, true, false, false, 1, drawNetworkPolicy, changeNetworkPolicy, nil},
		{&appsv1.ReplicaSet{}, true, false, true, 1, drawReplicaSet, changeReplicaSet, nil},
		{&appsv1.StatefulSet{}, true, false, true, 1, drawStatefulSet, changeStatefulSet, nil},
		{&resourcev1.ResourceClaim{}, true, false, true, 2, drawDeviceClaim, changeDeviceClaim, nil},
		{&batchv1alpha1.Job{}, true, true, true, 15, drawJob, changeJob, patchesOfJob},
		{&batchv1alpha1.CronJob{}, true, true, true, 3, drawCronJob, changeCronJob, nil},
		{&busv1alpha1.Command{}, true, true, false, 4, drawCommand, changeCommand, nil},
		{&schedulingv1beta1.PodGroup{}, true, true, false, 12, drawPodGroup, changePodGroup, patchesOfPodGroup},
		{&schedulingv1beta1.Queue{}, false, true, true, 12, drawQueue, changeQueue, patchesOfQueue},
		{&flowv1alpha1.JobFlow{}, true, true, true, 3, drawJobFlow, changeJobFlow, nil},
		{&flowv1alpha1.JobTemplate{}, true, true, true, 2, drawJobTemplate, changeJobTemplate, nil},
		{&topologyv1alpha1.HyperNode{}, false, true, true, 5, drawHyperNode, changeHyperNode, patchesOfHyperNode},
		{&nodeinfov1alpha1.Numatopology{}, false, true, false, 1, drawNumatopology, changeNumatopology, nil},
		{&insightv1alpha1.Plan{}, true, true, true, 3, drawPlan, changePlan, nil},
	}
	kinds := make([]kindOfObjects, len(all))
	for i, k := range all {
		kinds[i] = kindOfObjects{w.kindOf(k.object), k.namespaced, k.custom, k.hasStatus, k.weight, k.draw, k.change, k.patches}
	}
	return kinds
}

// change returns a function that changes objects of one type.
func change[T client.Object](f func(T)) func(client.Object) {
	return func(o client.Object) {
		if object, ok := o.(T); ok {
			f(object)
		}
	}
}

// oneOf returns one of the functions.
func oneOf[T client.Object](w *world, choices ...func(T)) func(client.Object) {
	return change(pick(w, choices...))
}
