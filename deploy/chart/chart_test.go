package chart_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/deploy/chart"
	"github.com/vc-batch/vc/deploy/manifest"
	"github.com/vc-batch/vc/test/charttest"
)

var rewrite = flag.Bool("rewrite", false, "write the charts and the expected renderings")

const charts = "../charts"

func TestTheChartsAreWhatTheGeneratorWrites(t *testing.T) {
	crds, err := deploy.CRDFiles()
	if err != nil {
		t.Fatal(err)
	}
	want, err := chart.Files(crds)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string][]byte{}
	err = filepath.WalkDir(charts, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		have[filepath.ToSlash(strings.TrimPrefix(path, charts+"/"))], err = os.ReadFile(path)
		return err
	})
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is not generated any more; run make generate", name)
		}
	}
	for name, text := range want {
		if bytes.Equal(have[name], text) {
			continue
		}
		if !*rewrite {
			t.Errorf("%s is out of date; run make generate", name)
			continue
		}
		writeFile(t, filepath.Join(charts, name), text)
	}
}

func writeFile(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// render renders a chart, and fails if this is not possible.
func render(t *testing.T, name, values string) charttest.Release {
	t.Helper()
	c, err := charttest.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	release, err := charttest.Render(c, values)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// objectsByName returns the objects of a manifest by kind, namespace and name.
func objectsByName(t *testing.T, manifest string) map[string]*unstructured.Unstructured {
	t.Helper()
	objects, err := charttest.Objects(manifest)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		name := fmt.Sprintf("%s %s/%s", object.GetKind(), object.GetNamespace(), object.GetName())
		if byName[name] != nil {
			t.Errorf("%s exists twice", name)
		}
		byName[name] = object
	}
	return byName
}

func TestDefaultValuesGiveTheObjectsOfInstallYAML(t *testing.T) {
	t.Parallel()
	want := objectsByName(t, string(deploy.InstallYAML))
	have := objectsByName(t, render(t, "vc", "").Manifest)
	maps.Copy(have, objectsByName(t, render(t, "vc-crds", "").Manifest))
	for name, object := range have {
		if object.GetAnnotations()["helm.sh/hook"] == "test" {
			delete(have, name)
		}
	}
	delete(want, "Namespace /"+deploy.Namespace)
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if want[name] == nil {
			t.Errorf("%s is only in the chart", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if have[name] == nil {
			t.Errorf("%s is only in install.yaml", name)
			continue
		}
		if a, b := typed(t, want[name]), typed(t, withoutHelmLabels(have[name])); !equality.Semantic.DeepEqual(a, b) {
			t.Errorf("%s differs (-install.yaml +chart):\n%s", name, cmp.Diff(a, b))
		}
	}
}

func TestTheChartWithAccountingHasTheObjectsOfPackageDeploy(t *testing.T) {
	t.Parallel()
	normal := objectsByName(t, render(t, "vc", "").Manifest)
	have := objectsByName(t, render(t, "vc", "accounting: {enabled: true}").Manifest)
	for name := range normal {
		delete(have, name)
	}
	for _, object := range deploy.Accounting() {
		content, err := manifest.Content(object)
		if err != nil {
			t.Fatal(err)
		}
		want := &unstructured.Unstructured{Object: content}
		name := fmt.Sprintf("%s %s/%s", want.GetKind(), want.GetNamespace(), want.GetName())
		if have[name] == nil {
			t.Errorf("%s is not in the chart", name)
			continue
		}
		if a, b := typed(t, want), typed(t, withoutHelmLabels(have[name])); !equality.Semantic.DeepEqual(a, b) {
			t.Errorf("%s differs (-package deploy +chart):\n%s", name, cmp.Diff(a, b))
		}
		delete(have, name)
	}
	for name := range have {
		t.Errorf("%s is only in the chart", name)
	}
}

// withoutHelmLabels returns a copy of the object without the labels that only charts have.
func withoutHelmLabels(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	labels := object.GetLabels()
	for _, key := range []string{"helm.sh/chart", "app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by"} {
		delete(labels, key)
	}
	object.SetLabels(labels)
	return object
}

// typed returns the object as a Go type of Kubernetes, in which equal quantities are equal. CRDs stay as they are.
func typed(t *testing.T, object *unstructured.Unstructured) any {
	t.Helper()
	out, err := scheme.Scheme.New(object.GroupVersionKind())
	if runtime.IsNotRegisteredError(err) {
		return object.Object
	}
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, out, true)
	}
	if err != nil {
		t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	return out
}

// TestEachCombinationOfValuesRendersAsExpected compares what each set of values changes with a file. The files contain the
// difference to the default rendering.
func TestEachCombinationOfValuesRendersAsExpected(t *testing.T) {
	t.Parallel()
	normal := render(t, "vc", "")
	for _, combination := range charttest.Combinations() {
		t.Run(combination.Name, func(t *testing.T) {
			t.Parallel()
			release := render(t, "vc", combination.Values)
			for _, object := range objectsByName(t, release.Manifest) {
				typed(t, object)
			}
			changes := withoutVersions(t, diff(t, normal.Manifest, release.Manifest)+diff(t, normal.Notes, release.Notes))
			path := filepath.Join("testdata", combination.Name+".diff")
			if *rewrite {
				writeFile(t, path, []byte(changes))
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if changes != string(want) {
				t.Errorf("%s (-want +got); run go test ./deploy/chart -rewrite:\n%s", path, cmp.Diff(string(want), changes))
			}
		})
	}
}

// withoutVersions replaces the versions of the chart and of its application, so that a release does not change the files.
func withoutVersions(t *testing.T, text string) string {
	t.Helper()
	c, err := charttest.Load("vc")
	if err != nil {
		t.Fatal(err)
	}
	app := c.Metadata.AppVersion
	return strings.NewReplacer("vc-"+c.Metadata.Version, "vc-CHART", `"`+app+`"`, `"APP"`, ":"+app+`"`, `:APP"`).Replace(text)
}

func diff(t *testing.T, from, to string) string {
	t.Helper()
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: difflib.SplitLines(from), B: difflib.SplitLines(to), Context: 1})
	if err != nil {
		t.Fatal(err)
	}
	// Without line numbers, a change in one place does not change the expected differences in others.
	return regexp.MustCompile(`(?m)^@@ .* @@$`).ReplaceAllString(text, "@@")
}

// TestRenderingTwiceGivesTheSameBytes is what Argo CD and Flux rely on.
func TestRenderingTwiceGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	for _, combination := range append(charttest.Combinations(), charttest.Combination{}) {
		if a, b := render(t, "vc", combination.Values), render(t, "vc", combination.Values); a != b {
			t.Errorf("%s: %s", combination.Name, diff(t, a.Manifest, b.Manifest))
		}
	}
}

// TestNothingDependsOnTheClusterOrChance looks for functions of templates that give another result in each rendering, and
// for hooks other than tests.
func TestNothingDependsOnTheClusterOrChance(t *testing.T) {
	t.Parallel()
	unstable := regexp.MustCompile(`\{\{[^}]*\b(lookup|rand\w+|now|gen\w+|uuidv4|htpasswd|IsInstall|IsUpgrade|Revision|APIVersions|KubeVersion)\b`)
	hook := regexp.MustCompile(`"?helm\.sh/hook"?:? +"?(\w[\w-]*)`)
	err := filepath.WalkDir(charts, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.Contains(path, "/templates/") {
			return err
		}
		text, err := os.ReadFile(path)
		if found := unstable.Find(text); found != nil {
			t.Errorf("%s uses %s", path, found)
		}
		for _, match := range hook.FindAllSubmatch(text, -1) {
			if string(match[1]) != "test" {
				t.Errorf("%s has a hook %s", path, match[1])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBadValuesAreRejectedWithTheirPlace(t *testing.T) {
	t.Parallel()
	for _, bad := range []struct{ what, chart, values, where, why string }{
		{"an unknown key", "vc", "schedular: {}", "schedular", "additional properties"},
		{"an unknown key in a group", "vc", "scheduler: {replica: 2}", "/scheduler", "replica"},
		{"a wrong type", "vc", "scheduler: {replicas: two}", "/scheduler/replicas", "want integer"},
		{"a string instead of a list", "vc", "admission: {extraArgs: --v=2}", "/admission/extraArgs", "want array"},
		{"no replicas", "vc", "controllers: {replicas: 0}", "/controllers/replicas", "minimum"},
		{"an unknown size", "vc", "size: huge", "/size", "'small', 'medium', 'large'"},
		{"a digest without algorithm", "vc", "image: {digest: " + strings.Repeat("ab", 32) + "}", "/image/digest", "sha256:"},
		{"a repository with a tag", "vc", "image: {repository: 'ghcr.io/vc-batch/vcd:v1'}", "/image/repository", "pattern"},
		{"a request that is no quantity", "vc", "scheduler: {cpu: lots}", "/scheduler/cpu", "pattern"},
		{"an unknown source of certificates", "vc", "certificates: {source: magic}", "/certificates/source", "'certManager'"},
		{"an unknown rule for spreading", "vc", "topologySpread: {zones: Maybe}", "/topologySpread/zones", "'DoNotSchedule'"},
		{"no issuer", "vc", "certificates: {source: certManager}", "certificates.issuerRef.name is empty", "set it to the name of an issuer"},
		{"no Secret", "vc", "certificates: {source: secret}", "certificates.secretName is empty", "tls.crt, tls.key and ca.crt"},
		{"no replicas of accounting", "vc", "accounting: {replicas: 0}", "/accounting/replicas", "minimum"},
		{"a database without size", "vc", "accounting: {store: {sqlite: {size: ''}}}", "/accounting/store/sqlite/size", "pattern"},
		{"an unknown database", "vc", "accounting: {store: {mysql: {size: 1Gi}}}", "/accounting/store", "mysql"},
		{"a Secret without key", "vc", "accounting: {store: {postgres: {secretKey: ''}}}", "/accounting/store/postgres/secretKey", "pattern"},
		{"no budget", "vc", "podDisruptionBudget: {maxUnavailable: 0}", "/podDisruptionBudget/maxUnavailable", "minimum"},
		{"an endpoint without scheme", "vc", "monitoring: {traces: {endpoint: 'collector:4317'}}", "/monitoring/traces/endpoint", "pattern"},
		{"an interval without unit", "vc", "monitoring: {podMonitor: {interval: '15'}}", "/monitoring/podMonitor/interval", "pattern"},
		{"a word instead of true or false", "vc-crds", "crds: {keep: maybe}", "/crds/keep", "want boolean"},
		{"an unknown key for CRDs", "vc-crds", "keep: true", "keep", "additional properties"},
	} {
		t.Run(bad.what, func(t *testing.T) {
			t.Parallel()
			c, err := charttest.Load(bad.chart)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := charttest.Render(c, bad.values); err == nil || !strings.Contains(err.Error(), bad.where) || !strings.Contains(err.Error(), bad.why) {
				t.Errorf("want an error with %q and %q, got %v", bad.where, bad.why, err)
			}
		})
	}
}

func TestAnotherNamespaceIsRejectedWithTheRightOne(t *testing.T) {
	t.Parallel()
	c, err := charttest.Load("vc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := charttest.RenderIn(c, "default", ""); err == nil || !strings.Contains(err.Error(), "add --namespace volcano-system --create-namespace") {
		t.Errorf("want an error that names the namespace, got %v", err)
	}
}

func TestCRDsAreKeptUnlessTheAdministratorSaysOtherwise(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		objects := objectsByName(t, render(t, "vc-crds", fmt.Sprintf("crds: {keep: %t}", keep)).Manifest)
		if len(objects) != len(deploy.CRDs()) {
			t.Errorf("keep %t: %d CRDs, want %d", keep, len(objects), len(deploy.CRDs()))
		}
		for name, object := range objects {
			if kept := object.GetAnnotations()["helm.sh/resource-policy"] == "keep"; kept != keep {
				t.Errorf("keep %t: %s is kept: %t", keep, name, kept)
			}
		}
	}
}

// TestValuesYAMLHoldsTheDefaultsOfTheSchema checks that values.yaml parses to the Go values.
func TestValuesYAMLHoldsTheDefaultsOfTheSchema(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(charts + "/vc/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var have chart.Values
	if err := yaml.UnmarshalStrict(text, &have); err != nil {
		t.Fatal(err)
	}
	if want := chart.DefaultValues(); !equality.Semantic.DeepEqual(want, have) {
		t.Errorf("-want +got: %s", cmp.Diff(want, have))
	}
}
