package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// integration is the expected result of a manifest in examples/integrations.
type integration struct {
	pods   int
	groups int
	min    int32  // minMember of each group
	group  string // the name of the only group, if another component created it
	waits  bool   // with one pod less than a gang, no pod starts
	ranks  bool   // each pod has its rank in the annotation of plugin hcclrank
}

var integrations = map[string]integration{
	"pod":              {pods: 1, groups: 1, min: 1},
	"podgroup":         {pods: 2, groups: 1, min: 2, group: "by-hand", waits: true},
	"deployment":       {pods: 3, groups: 1, min: 2},
	"statefulset":      {pods: 3, groups: 1, min: 3},
	"job":              {pods: 4, groups: 1, min: 4},
	"daemonset":        {pods: 2, groups: 1, min: 1},
	"pytorchjob":       {pods: 3, groups: 1, min: 3, group: "pytorchjob", waits: true},
	"tfjob":            {pods: 4, groups: 1, min: 4, group: "tfjob", waits: true},
	"mpijob":           {pods: 3, groups: 1, min: 3, group: "mpijob", waits: true},
	"raycluster":       {pods: 3, groups: 1, min: 3, group: "ray-raycluster-pg", waits: true},
	"sparkapplication": {pods: 3, groups: 1, min: 1, group: "spark-sparkapplication-pg"},
	"leaderworkerset":  {pods: 6, groups: 2, min: 3},
	"argo-workflow":    {pods: 2, groups: 1, min: 1},
	"paddlejob":        {pods: 3, groups: 1, min: 3, group: "paddlejob", waits: true},
	"horovod":          {pods: 3, groups: 1, min: 3},
	"mindspore":        {pods: 4, groups: 1, min: 4, ranks: true},
	"cromwell":         {pods: 1, groups: 1, min: 1},
}

// TestScenario18Integrations runs every manifest of examples/integrations. The test creates the pods as the operators
// would, and installs stand-ins for the operators' kinds.
func TestScenario18Integrations(t *testing.T) {
	c := startCluster(t, "--process-nodes=0", "--simulated-nodes=2", "--node-cpu=16")
	c.create(queue("research", "weight: 1"))
	files, err := filepath.Glob("../../examples/integrations/*.yaml")
	if err != nil || len(files) != len(integrations) {
		t.Fatalf("%d files, and %d are expected (%v)", len(files), len(integrations), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			if name == "daemonset" && usesExistingCluster() {
				t.Skip("SKIPPED: pods of a DaemonSet start on cordoned nodes too")
			}
			want, known := integrations[name]
			if !known {
				t.Fatal("nobody says what becomes of it")
			}
			(&integrating{cluster: c.of(t), namespace: "of-" + name, uids: map[string]types.UID{}}).runManifest(file, want)
		})
	}
}

// of returns the cluster for a subtest.
func (c *cluster) of(t *testing.T) *cluster {
	inner := *c
	inner.t = t
	return &inner
}

// integrating is the run of one manifest.
type integrating struct {
	*cluster
	namespace string
	uids      map[string]types.UID // of created objects, by kind and name
}

func (i *integrating) runManifest(file string, want integration) {
	i.t.Helper()
	i.createNamespace()
	objects := i.read(file)
	i.standIn(objects[0])
	last := len(objects)
	if want.waits {
		last--
	}
	for _, object := range objects[:last] {
		i.make(object)
	}
	if want.waits {
		i.waitsForTheLast()
		i.make(objects[last])
	}
	i.eventually(60*time.Second, fmt.Sprintf("%d pods run", want.pods), func() error { return i.allRun(want.pods) })
	i.checkGroups(want)
	if want.ranks {
		i.checkRanks(want.pods)
	}
}

// createNamespace creates the namespace of the manifest. It is deleted at the end of the test.
func (i *integrating) createNamespace() {
	i.t.Helper()
	i.create("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + i.namespace + "}\n")
	i.t.Cleanup(func() { i.run("", "kubectl", "delete", "namespace", i.namespace, "--wait=false") })
}

func (i *integrating) read(file string) []*unstructured.Unstructured {
	i.t.Helper()
	f, err := os.Open(file)
	if err != nil {
		i.t.Fatal(err)
	}
	defer f.Close()
	var objects []*unstructured.Unstructured
	for d := yaml.NewYAMLOrJSONDecoder(f, 4096); ; {
		object := &unstructured.Unstructured{}
		err := d.Decode(object)
		if err == io.EOF {
			return objects
		}
		if err != nil {
			i.t.Fatalf("%s: %v", file, err)
		}
		objects = append(objects, object)
	}
}

// make creates an object. It sets the UIDs of its owner references to those of the created owners.
func (i *integrating) make(object *unstructured.Unstructured) {
	i.t.Helper()
	object.SetNamespace(i.namespace)
	if usesExistingCluster() {
		replaceContainers(i.t, object)
	}
	owners := object.GetOwnerReferences()
	for n := range owners {
		owners[n].UID = i.uids[owners[n].Kind+"/"+owners[n].Name]
		if owners[n].UID == "" {
			i.t.Fatalf("%s %s: its owner %s is not there", object.GetKind(), object.GetName(), owners[n].Name)
		}
	}
	object.SetOwnerReferences(owners)
	i.eventually(20*time.Second, fmt.Sprintf("%s %s is made", object.GetKind(), object.GetName()), func() error {
		return i.Create(context.Background(), object)
	})
	i.uids[object.GetKind()+"/"+object.GetName()] = object.GetUID()
}

// standIn installs the kind of an object if it belongs neither to Kubernetes nor to us.
func (i *integrating) standIn(object *unstructured.Unstructured) {
	i.t.Helper()
	gvk := object.GroupVersionKind()
	if i.Scheme().Recognizes(gvk) {
		return
	}
	plural := strings.ToLower(gvk.Kind) + "s"
	crd := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + gvk.Group, Annotations: map[string]string{"api-approved.kubernetes.io": "unapproved, a stand-in"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gvk.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: strings.ToLower(gvk.Kind), Kind: gvk.Kind, ListKind: gvk.Kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: gvk.Version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}},
			}},
		},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	if err != nil {
		i.t.Fatal(err)
	}
	delete(content, "status")
	if err := client.IgnoreAlreadyExists(i.Create(context.Background(), &unstructured.Unstructured{Object: content})); err != nil {
		i.t.Fatal(err)
	}
	i.eventually(20*time.Second, gvk.Kind+" is served", func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind + "List"})
		return i.List(context.Background(), list, client.InNamespace(i.namespace))
	})
}

// waitsForTheLast checks that the group reports missing pods, and that no pod has started.
func (i *integrating) waitsForTheLast() {
	i.t.Helper()
	i.eventually(30*time.Second, "the group says that pods are missing", func() error {
		groups := i.groups()
		if len(groups) != 1 || groups[0].Status.Explanation == nil {
			return fmt.Errorf("%d groups, none explained", len(groups))
		}
		if reason := groups[0].Status.Explanation.Reason; reason != "NotEnoughPods" {
			return fmt.Errorf("it says %s", reason)
		}
		return nil
	})
	for name, pod := range i.pods(i.namespace, nil) {
		if pod.Spec.NodeName != "" {
			i.t.Errorf("%s started without the rest of its gang", name)
		}
	}
}

func (i *integrating) allRun(want int) error {
	pods := i.pods(i.namespace, nil)
	for name, pod := range pods {
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("%s is %s", name, pod.Status.Phase)
		}
	}
	if len(pods) != want {
		return fmt.Errorf("there are %d", len(pods))
	}
	return nil
}

func (i *integrating) groups() []schedulingv1beta1.PodGroup {
	i.t.Helper()
	var list schedulingv1beta1.PodGroupList
	if err := i.List(context.Background(), &list, client.InNamespace(i.namespace)); err != nil {
		i.t.Fatal(err)
	}
	return list.Items
}

// checkGroups checks that the groups are those of the manifest, and that every pod belongs to one of them.
func (i *integrating) checkGroups(want integration) {
	i.t.Helper()
	names := map[string]bool{}
	groups := i.groups()
	for n := range groups {
		group := &groups[n]
		names[group.Name] = true
		if group.Spec.MinMember != want.min || group.Spec.Queue != "research" || len(group.OwnerReferences) == 0 && want.group != "by-hand" {
			i.t.Errorf("group %s: minMember %d, queue %s, owners %v", group.Name, group.Spec.MinMember, group.Spec.Queue, group.OwnerReferences)
		}
	}
	if len(names) != want.groups || want.group != "" && !names[want.group] {
		i.t.Errorf("groups %v, want %d (%s)", names, want.groups, want.group)
	}
	for name, pod := range i.pods(i.namespace, nil) {
		if !names[keys.PodGroupOf(pod.Annotations)] {
			i.t.Errorf("%s is in group %q", name, keys.PodGroupOf(pod.Annotations))
		}
	}
}

// checkRanks checks that each rank below n is the annotation of one pod.
func (i *integrating) checkRanks(n int) {
	i.t.Helper()
	ranks := map[string]bool{}
	for _, pod := range i.pods(i.namespace, nil) {
		ranks[pod.Annotations["hccl/rankIndex"]] = true
	}
	for rank := range n {
		if !ranks[strconv.Itoa(rank)] {
			i.t.Errorf("no pod has rank %d: %v", rank, ranks)
		}
	}
}
