package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/test/charttest"
)

// groupsOfOthers are the API groups of objects that need the CRDs of other software, and the kinds that the chart has.
var groupsOfOthers = map[string][]string{
	"monitoring.coreos.com": {"PodMonitor", "PrometheusRule", "ServiceMonitor"},
	"cert-manager.io":       {"Certificate"},
}

// crdsOfOthers are files with CRDs in the Go modules of that software. The project does not import these modules.
var crdsOfOthers = []struct {
	module, dir string
	files       []string
}{
	{"github.com/prometheus-operator/prometheus-operator@v0.85.0", "example/prometheus-operator-crd", []string{"monitoring.coreos.com_podmonitors.yaml", "monitoring.coreos.com_prometheusrules.yaml", "monitoring.coreos.com_servicemonitors.yaml"}},
	{"github.com/cert-manager/cert-manager@v1.21.2", "deploy/crds", []string{"cert-manager.io_certificates.yaml"}},
}

// TestTheAPIServerAcceptsTheChartWithEachCombinationOfValues creates every object of the chart in a dry run. Unknown fields
// are errors.
func TestTheAPIServerAcceptsTheChartWithEachCombinationOfValues(t *testing.T) {
	strict := client.WithFieldValidation(admin(t), metav1.FieldValidationStrict)
	c := client.NewDryRunClient(strict)
	for _, name := range []string{"vc-crds", "vc"} {
		loaded, err := charttest.Load(name)
		must(t, err)
		combinations := []charttest.Combination{{Name: "default"}}
		if name == "vc" {
			combinations = append(combinations, charttest.Combinations()...)
		}
		for _, combination := range combinations {
			t.Run(name+"/"+combination.Name, func(t *testing.T) {
				release, err := charttest.Render(loaded, combination.Values)
				must(t, err)
				objects, err := charttest.Objects(release.Manifest)
				must(t, err)
				for _, object := range objects {
					if _, ofOthers := groupsOfOthers[object.GroupVersionKind().Group]; ofOthers {
						continue
					}
					creator := c
					if object.GetKind() == "ServiceAccount" {
						creator = strict // the API server rejects a pod without its account
					}
					if err := createUnderFreeName(t.Context(), creator, object); err != nil {
						t.Errorf("%s %s: %v", object.GetKind(), object.GetName(), err)
					}
				}
			})
		}
	}
}

// createUnderFreeName creates an object, under another name if install.yaml has one with its name. A CRD has only one name, so
// it is updated.
func createUnderFreeName(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	if object.GetKind() == "CustomResourceDefinition" {
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("chart"), client.ForceOwnership)
	}
	err := c.Create(ctx, object.DeepCopy())
	if apierrors.IsAlreadyExists(err) && object.GetKind() != "ServiceAccount" {
		object = object.DeepCopy()
		object.SetName(object.GetName() + "-chart")
		err = c.Create(ctx, object)
	}
	if object.GetKind() == "ServiceAccount" {
		err = client.IgnoreAlreadyExists(err)
	}
	return err
}

// TestTheAPIServerAcceptsTheObjectsForOtherSoftware creates the objects of the chart for the Prometheus Operator and for
// cert-manager in a dry run, with the CRDs of that software. Unknown fields are errors.
func TestTheAPIServerAcceptsTheObjectsForOtherSoftware(t *testing.T) {
	installCRDsOfOthers(t)
	strict := client.NewDryRunClient(client.WithFieldValidation(admin(t), metav1.FieldValidationStrict))
	loaded, err := charttest.Load("vc")
	must(t, err)
	missing := map[schema.GroupKind]bool{}
	for group, kinds := range groupsOfOthers {
		for _, kind := range kinds {
			missing[schema.GroupKind{Group: group, Kind: kind}] = true
		}
	}
	for _, combination := range charttest.Combinations() {
		release, err := charttest.Render(loaded, combination.Values)
		must(t, err)
		objects, err := charttest.Objects(release.Manifest)
		must(t, err)
		for _, object := range objects {
			kind := object.GroupVersionKind().GroupKind()
			if _, ofOthers := groupsOfOthers[kind.Group]; !ofOthers {
				continue
			}
			delete(missing, kind)
			if err := strict.Create(t.Context(), object); err != nil {
				t.Errorf("%s: %s %s: %v", combination.Name, kind.Kind, object.GetName(), err)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("no combination of values has %v", slices.Collect(maps.Keys(missing)))
	}
}

// installCRDsOfOthers installs the CRDs in crdsOfOthers until the test ends, and waits until their kinds are served. It
// skips the test if they cannot be downloaded.
func installCRDsOfOthers(t *testing.T) {
	t.Helper()
	for _, source := range crdsOfOthers {
		dir := downloadModule(t, source.module)
		for _, file := range source.files {
			manifest, err := os.ReadFile(filepath.Join(dir, source.dir, file))
			must(t, err)
			must(t, apply(t.Context(), plane.RESTConfig(), manifest))
			crds, err := decode(manifest)
			must(t, err)
			for _, crd := range crds {
				t.Cleanup(func() { must(t, admin(t).Delete(context.WithoutCancel(t.Context()), crd)) })
			}
		}
	}
	c := admin(t)
	for group, kinds := range groupsOfOthers {
		for _, kind := range kinds {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind + "List"})
			eventually(t, func(ctx context.Context) error { return c.List(ctx, list) })
		}
	}
}

// downloadModule returns the directory of a Go module with a version. It skips the test if the module is neither in the
// module cache nor can be downloaded.
func downloadModule(t *testing.T, module string) string {
	t.Helper()
	download := exec.Command("go", "mod", "download", "-json", module)
	download.Dir = t.TempDir() // outside of this module, whose go.mod and go.sum do not have it
	out, err := download.Output()
	got := struct{ Dir, Error string }{}
	if json.Unmarshal(out, &got) != nil || err != nil {
		t.Skipf("not tested: Go module %s cannot be downloaded: %v %s", module, err, got.Error)
	}
	return got.Dir
}

// TestNoWebhookIsLeftBehindWhenVcIsRemovedWhileItRuns removes the objects in the order of helm uninstall, while a process of
// admission is still running: the configurations first, and the ClusterRole last.
func TestNoWebhookIsLeftBehindWhenVcIsRemovedWhileItRuns(t *testing.T) {
	c := admin(t)
	removeWebhooks(t)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "owner-of-webhooks"}}
	must(t, c.Create(t.Context(), role))
	stop := runAdmissionWith(t, admission.Options{Owner: role.Name})
	defer stop()
	name := client.ObjectKey{Name: admission.ConfigurationPrefix + "jobs-validate"}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	must(t, c.Get(t.Context(), name, configuration))
	first := configuration.UID
	must(t, c.Delete(t.Context(), configuration))
	eventually(t, func(ctx context.Context) error {
		configuration = &admissionregistrationv1.ValidatingWebhookConfiguration{}
		err := c.Get(ctx, name, configuration)
		if err == nil && configuration.UID == first {
			err = errors.New("the configuration is still there")
		}
		return err
	})
	must(t, c.Delete(t.Context(), role))
	eventually(t, func(ctx context.Context) error {
		list := &admissionregistrationv1.ValidatingWebhookConfigurationList{}
		if err := c.List(ctx, list); err != nil {
			return err
		}
		if len(list.Items) > 0 {
			return fmt.Errorf("%d configurations are left, such as %s", len(list.Items), list.Items[0].Name)
		}
		return nil
	})
}
