package install

import (
	"context"
	"errors"
	"fmt"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/admission"
	"github.com/vc-batch/vc/test/charttest"
)

// groupsOfOthers are the API groups of objects that need other software, which is not installed here.
var groupsOfOthers = map[string]bool{"monitoring.coreos.com": true, "cert-manager.io": true}

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
					if groupsOfOthers[object.GroupVersionKind().Group] {
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
