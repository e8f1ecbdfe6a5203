package local

import (
	"context"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/vc-batch/vc/deploy"
)

// installCRDs makes our kinds known to the API server, or brings them up to
// date, and returns when it serves them.
func installCRDs(ctx context.Context, config *rest.Config) error {
	client, err := apiextensions.NewForConfig(config)
	if err != nil {
		return err
	}
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	for _, crd := range deploy.CRDs() {
		_, err := crds.Create(ctx, crd, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			err = updateCRD(ctx, client, crd)
		}
		if err != nil {
			return fmt.Errorf("kind %s: %w", crd.Name, err)
		}
	}
	for _, crd := range deploy.CRDs() {
		err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			got, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
			return err == nil && established(got), err
		})
		if err != nil {
			return fmt.Errorf("kind %s is not served: %w", crd.Name, err)
		}
	}
	return nil
}

func updateCRD(ctx context.Context, client apiextensions.Interface, want *apiextensionsv1.CustomResourceDefinition) error {
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	got, err := crds.Get(ctx, want.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	want = want.DeepCopy()
	want.ResourceVersion = got.ResourceVersion
	_, err = crds.Update(ctx, want, metav1.UpdateOptions{})
	return err
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range crd.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}
