package resourcegroup

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

const file = `
resourceGroups:
- resourceGroup: management
  object: {key: namespace, value: [mng-1, mng-2]}
  schedulerName: default-scheduler
  tolerations: [{effect: NoSchedule, key: taint, operator: Exists}]
  labels: {example.com/nodetype: management}
- resourceGroup: cpu
  object: {key: annotation, value: ["example.com/group: cpu", "kind: cpu"]}
  schedulerName: volcano
  affinity: |
    {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}]}}}
- resourceGroup: gpu
  labels: {example.com/nodetype: gpu}
`

func podWith(annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}, Spec: corev1.PodSpec{
		SchedulerName: "mine", NodeSelector: map[string]string{"example.com/nodetype": "any", "own": "yes"},
	}}
}

func TestWherePodsGo(t *testing.T) {
	t.Parallel()
	config, err := Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		annotations map[string]string
		namespace   string
		scheduler   string
		node        string
		tolerations int
		affinity    bool
	}{
		"a namespace of a group":                     {nil, "mng-2", "default-scheduler", "management", 1, false},
		"another namespace":                          {nil, "nlp", "mine", "any", 0, false},
		"an annotation of a group":                   {map[string]string{"kind": "cpu"}, "nlp", "volcano", "any", 0, true},
		"the annotation with another value":          {map[string]string{"kind": "gpu"}, "nlp", "mine", "any", 0, false},
		"the name of a group that has no key":        {map[string]string{"volcano.sh/resource-group": "gpu"}, "nlp", "mine", "gpu", 0, false},
		"the name of a group that goes by something": {map[string]string{"volcano.sh/resource-group": "cpu"}, "nlp", "mine", "any", 0, false},
		"two groups: the first is taken":             {map[string]string{"kind": "cpu"}, "mng-1", "default-scheduler", "management", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podWith(test.annotations)
			config.ApplyFirstGroup(pod, test.namespace)
			if s := pod.Spec; s.SchedulerName != test.scheduler || s.NodeSelector["example.com/nodetype"] != test.node || s.NodeSelector["own"] != "yes" ||
				len(s.Tolerations) != test.tolerations || (s.Affinity != nil) != test.affinity {
				t.Errorf("%+v", s)
			}
			once := pod.DeepCopy()
			config.ApplyFirstGroup(pod, test.namespace)
			if diff := cmp.Diff(once, pod); diff != "" {
				t.Errorf("the second time changes more (-once +twice):\n%s", diff)
			}
		})
	}
}

func TestAnAffinityOfThePodStays(t *testing.T) {
	t.Parallel()
	config, err := Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	pod := podWith(map[string]string{"kind": "cpu"})
	pod.Spec.Affinity = &corev1.Affinity{}
	config.ApplyFirstGroup(pod, "nlp")
	if pod.Spec.Affinity.NodeAffinity != nil {
		t.Errorf("%+v", pod.Spec.Affinity)
	}
}

func TestFilesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, says string }{
		"no YAML":                       {"{{{", "resource groups"},
		"a field that nobody knows":     {"resourceGroups: [{resourceGroup: a, object: {keys: namespace}}]", `unknown field "resourceGroups[0].object.keys"`},
		"a group without a name":        {"resourceGroups: [{object: {key: namespace, value: [a]}}]", "resourceGroups[0].resourceGroup: Required value"},
		"a key that is none":            {"resourceGroups: [{resourceGroup: a, object: {key: label, value: [a]}}]", "resourceGroups[0].object.key: Unsupported value"},
		"a namespace that is none":      {"resourceGroups: [{resourceGroup: a, object: {key: namespace, value: [A_b]}}]", "resourceGroups[0].object.value[0]"},
		"nobody who belongs to it":      {"resourceGroups: [{resourceGroup: a, object: {key: namespace}}]", "without a value, no pod would belong to the group"},
		"an annotation without a value": {"resourceGroups: [{resourceGroup: a, object: {key: annotation, value: [alone]}}]", "specify an annotation in the form `key: value`"},
		"labels that are none":          {"resourceGroups: [{resourceGroup: a, labels: {'a b': c}}]", "resourceGroups[0].labels"},
		"an affinity that is none":      {"resourceGroups: [{resourceGroup: a, affinity: '{\"nodeAfinity\": {}}'}]", "resourceGroups[0].affinity: Invalid value"},
	} {
		if _, err := Parse([]byte(test.text)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: want %q, got %v", name, test.says, err)
		}
	}
	if config, err := Parse(nil); err != nil || len(config.Groups) > 0 || config.Condition() != "" {
		t.Errorf("an empty file: %+v, %v", config, err)
	}
}

// TestEveryPodThatIsChangedIsSent compares the condition, as evaluated by the API server, with ApplyFirstGroup.
func TestEveryPodThatIsChangedIsSent(t *testing.T) {
	environment, err := cel.NewEnv(cel.OptionalTypes(), cel.Variable("object", cel.DynType), cel.Variable("request", cel.DynType))
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"a", "b", `q"uote`, `back\slash`, "ünicode", "new\nline"}
	namespaces := []string{"a", "b", "c"}
	propertytest.Check(t, 1000, func(t *rapid.T) {
		config := &Config{}
		for range rapid.IntRange(0, 4).Draw(t, "groups") {
			g := Group{Name: rapid.SampledFrom(words).Draw(t, "name"), SchedulerName: "changed"}
			switch g.Object.Key = rapid.SampledFrom([]string{byNamespace, byAnnotation, ""}).Draw(t, "key"); g.Object.Key {
			case byNamespace:
				g.Object.Value = []string{rapid.SampledFrom(namespaces[:2]).Draw(t, "namespace")}
			default:
				g.annotations = []map[string]string{{rapid.SampledFrom(words).Draw(t, "annotation"): rapid.SampledFrom(words).Draw(t, "is")}}
			}
			config.Groups = append(config.Groups, g)
		}
		annotations := rapid.MapOf(rapid.SampledFrom(append(slices.Clone(words), "volcano.sh/resource-group")), rapid.SampledFrom(words)).Draw(t, "annotations")
		namespace := rapid.SampledFrom(namespaces).Draw(t, "in")
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}
		config.ApplyFirstGroup(pod, namespace)
		wanted := pod.Spec.SchedulerName == "changed"
		condition := config.Condition()
		if condition == "" {
			if wanted {
				t.Fatalf("nothing is sent, and yet the pod is changed")
			}
			return
		}
		ast, issues := environment.Compile(condition)
		if issues.Err() != nil {
			t.Fatalf("%s: %v", condition, issues.Err())
		}
		program, err := environment.Program(ast)
		if err != nil {
			t.Fatal(err)
		}
		metadata := map[string]any{}
		if len(annotations) > 0 {
			metadata["annotations"] = annotations
		}
		out, _, err := program.Eval(map[string]any{"object": map[string]any{"metadata": metadata}, "request": map[string]any{"namespace": namespace}})
		if err != nil {
			t.Fatalf("%s: %v", condition, err)
		}
		if out.Value() != wanted {
			t.Fatalf("%s gives %v, and the pod is changed: %v", condition, out.Value(), wanted)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(file))
	f.Add([]byte("resourceGroups: [{resourceGroup: a, affinity: x}]"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		config, err := Parse(text)
		if err != nil {
			return
		}
		config.ApplyFirstGroup(podWith(map[string]string{"volcano.sh/resource-group": "a"}), "nlp")
		_ = config.Condition()
	})
}
