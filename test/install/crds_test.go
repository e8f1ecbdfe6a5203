package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/deploy"
)

// queuesCRD is the CRD that the tests of vcctl crds change.
const queuesCRD = "queues.scheduling.volcano.sh"

// crdCluster is a cluster whose CRD of queues is replaced for each test.
type crdCluster struct {
	t          *testing.T
	kubeconfig string
	c          client.Client
}

func newCRDCluster(t *testing.T) *crdCluster {
	t.Helper()
	kubeconfig := startCluster(t)
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, err)
	scheme := runtime.NewScheme()
	must(t, apiextensionsv1.AddToScheme(scheme))
	c, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	return &crdCluster{t, kubeconfig, c}
}

// get returns the cluster's CRD of queues.
func (k *crdCluster) get() *apiextensionsv1.CustomResourceDefinition {
	k.t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	must(k.t, k.c.Get(k.t.Context(), client.ObjectKey{Name: queuesCRD}, crd))
	return crd
}

// replace installs the CRD of queues anew, changed, and with a field manager.
//
// Kubernetes' finalizer of CRDs reads its own last update late on a busy machine, and then does nothing until the CRD
// changes or five minutes have passed. So the CRD is changed each second until it is gone.
func (k *crdCluster) replace(t *testing.T, manager string, change func(*apiextensionsv1.CustomResourceDefinition)) {
	t.Helper()
	old := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: queuesCRD}}
	must(t, client.IgnoreNotFound(k.c.Delete(t.Context(), old)))
	changed := time.Now()
	eventually(t, func(ctx context.Context) error {
		crd := ownQueues(t)
		change(crd)
		err := k.c.Create(ctx, crd, client.FieldOwner(manager))
		if apierrors.IsAlreadyExists(err) && time.Since(changed) > time.Second {
			changed = time.Now()
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"changed-at":%q}}}`, changed)
			return errors.Join(err, client.IgnoreNotFound(k.c.Patch(ctx, old, client.RawPatch(types.MergePatchType, patch))))
		}
		return err
	})
}

func ownQueues(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all := deploy.CRDs()
	i := slices.IndexFunc(all, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Name == queuesCRD })
	return all[i]
}

func specOf(crd *apiextensionsv1.CustomResourceDefinition) map[string]apiextensionsv1.JSONSchemaProps {
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
}

// expect fails unless the answer has an exit code, and its output contains a text.
func (a answer) expect(t *testing.T, code int, text string) {
	t.Helper()
	if a.code != code || !strings.Contains(a.out+a.err, text) {
		t.Errorf("exit code %d, want %d with %q:\n%s%s", a.code, code, text, a.out, a.err)
	}
}

// TestCRDsAreAppliedWithoutLoss applies vcctl's CRDs to a real API server that has none, older, newer and foreign ones.
func TestCRDsAreAppliedWithoutLoss(t *testing.T) {
	k := newCRDCluster(t)
	run := func(t *testing.T, args ...string) answer {
		t.Helper()
		return vcctl(t.Context(), t, k.kubeconfig, append([]string{"crds"}, args...)...)
	}
	withoutLimits := func(crd *apiextensionsv1.CustomResourceDefinition) { delete(specOf(crd), "jobLimits") }
	hasLimits := func() bool { _, found := specOf(k.get())["jobLimits"]; return found }
	owner := func(manager string) bool {
		return slices.ContainsFunc(k.get().ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == manager })
	}

	t.Run("a dry run stores nothing", func(t *testing.T) {
		run(t, "apply", "--dry-run=server").expect(t, 0, queuesCRD+" created (server dry run)")
		run(t, "list").expect(t, 0, queuesCRD+"         missing")
	})
	t.Run("all are created and served", func(t *testing.T) {
		got := run(t, "apply")
		got.expect(t, 0, queuesCRD+" created")
		if n := strings.Count(got.out, " created"); n != len(deploy.CRDs()) {
			t.Errorf("%d of %d CRDs are created", n, len(deploy.CRDs()))
		}
		run(t, "list").expect(t, 0, queuesCRD+"         current   1         1     v1beta1")
		again := run(t, "apply")
		if n := strings.Count(again.out, " unchanged"); n != len(deploy.CRDs()) {
			t.Errorf("%d of %d CRDs are unchanged:\n%s", n, len(deploy.CRDs()), again.out)
		}
	})
	t.Run("a CRD of kubectl apply is taken over", func(t *testing.T) {
		k.replace(t, "kubectl-client-side-apply", func(crd *apiextensionsv1.CustomResourceDefinition) {
			withoutLimits(crd)
			specOf(crd)["outdated"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
			crd.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = "{}"
		})
		run(t, "apply", "--dry-run=server").expect(t, 0, queuesCRD+" configured (server dry run)")
		run(t, "apply").expect(t, 0, queuesCRD+" configured")
		if _, outdated := specOf(k.get())["outdated"]; outdated || !hasLimits() || owner("kubectl-client-side-apply") {
			t.Error("the CRD was not taken over completely")
		}
	})
	t.Run("a CRD of another tool is a conflict", func(t *testing.T) {
		k.replace(t, "helm", withoutLimits)
		before := k.get().Generation
		run(t, "apply").expect(t, 1, "its fields are managed by helm; nothing was changed\nhint:  upgrade the CRD with the tool that manages it, or take it over with --force-conflicts")
		if hasLimits() || k.get().Generation != before {
			t.Error("the CRD was changed")
		}
		run(t, "apply", "--force-conflicts").expect(t, 0, queuesCRD+" configured")
		if !hasLimits() {
			t.Error("the CRD was not changed")
		}
	})
	t.Run("a CRD of Volcano needs a confirmation", func(t *testing.T) {
		k.replace(t, "helm", func(crd *apiextensionsv1.CustomResourceDefinition) {
			withoutLimits(crd)
			crd.Annotations = nil
		})
		run(t, "list").expect(t, 0, queuesCRD+"         foreign")
		run(t, "apply").expect(t, 1, "replace CRDs that are not vc's, but probably Volcano's: confirmation is required")
		if hasLimits() {
			t.Error("the CRD was changed")
		}
		run(t, "apply", "--yes").expect(t, 0, queuesCRD+" configured")
		run(t, "list").expect(t, 0, queuesCRD+"         current")
	})
	t.Run("a newer CRD is kept", func(t *testing.T) {
		k.replace(t, "vc-crds", func(crd *apiextensionsv1.CustomResourceDefinition) {
			crd.Annotations[deploy.CRDVersionAnnotation] = "1000"
			specOf(crd)["shiny"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		})
		run(t, "apply").expect(t, 1, "which is newer than version 1 of this vcctl; replacing it would lose the fields spec.shiny of all objects")
		if _, kept := specOf(k.get())["shiny"]; !kept {
			t.Error("the CRD was replaced")
		}
		run(t, "apply", "--force", "--force-conflicts").expect(t, 0, queuesCRD+" configured")
		if _, kept := specOf(k.get())["shiny"]; kept {
			t.Error("the CRD was not replaced")
		}
	})
	t.Run("stored versions are never lost", func(t *testing.T) {
		k.replace(t, "vc-crds", func(crd *apiextensionsv1.CustomResourceDefinition) {
			next := *crd.Spec.Versions[0].DeepCopy()
			next.Name, crd.Spec.Versions[0].Storage = "v2", false
			crd.Spec.Versions = append(crd.Spec.Versions, next)
		})
		run(t, "apply", "--force", "--force-conflicts").expect(t, 1, "objects may be stored in version v2, which this vcctl's CRD does not serve")
		if len(k.get().Spec.Versions) != 2 {
			t.Error("the CRD was replaced")
		}
	})
}
