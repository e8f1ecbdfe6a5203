package local

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/deploy"
)

// installNamespace creates the namespace for leases. On other clusters, deploy/install.yaml creates it.
func installNamespace(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: deploy.Namespace}}
	_, err = client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("namespace %s: %w", deploy.Namespace, err)
	}
	return nil
}

// installCRDs creates or updates this project's kinds in the API server. It returns when they are served.
func installCRDs(ctx context.Context, config *rest.Config) error {
	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeProtobuf // the objects are big, and JSON is slow
	client, err := apiextensions.NewForConfig(config)
	if err != nil {
		return err
	}
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	wanted := deploy.CRDs()
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return installNamespace(groupCtx, config) })
	for _, crd := range wanted {
		group.Go(func() error {
			_, err := crds.Create(groupCtx, crd, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				err = updateCRD(groupCtx, client, crd)
			}
			if err != nil {
				return fmt.Errorf("kind %s: %w", crd.Name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := installPeople(ctx, config); err != nil {
		return err
	}
	for _, crd := range wanted {
		err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
			got, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
			return err == nil && apihelpers.IsCRDConditionTrue(got, apiextensionsv1.Established), err
		})
		if err != nil {
			return fmt.Errorf("custom resource %s is not available in the API server: %w", crd.Name, err)
		}
	}
	return nil
}

// installPeople creates the roles for users and the admission rules for users. On other clusters, deploy/install.yaml
// creates them.
func installPeople(ctx context.Context, config *rest.Config) error {
	c, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, object := range deploy.People() {
		wanted, ok := object.(client.Object)
		if !ok {
			return fmt.Errorf("%T has no name", object)
		}
		group.Go(func() error {
			err := c.Create(ctx, wanted)
			if apierrors.IsAlreadyExists(err) {
				err = replaceObject(ctx, c, wanted)
			}
			if err != nil {
				return fmt.Errorf("%s %s: %w", wanted.GetObjectKind().GroupVersionKind().Kind, wanted.GetName(), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// replaceObject updates an existing object so that it equals the wanted one.
func replaceObject(ctx context.Context, c client.Client, wanted client.Object) error {
	there, ok := wanted.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T has no name", wanted)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(wanted), there); err != nil {
		return err
	}
	wanted.SetResourceVersion(there.GetResourceVersion())
	return c.Update(ctx, wanted)
}

func updateCRD(ctx context.Context, client apiextensions.Interface, want *apiextensionsv1.CustomResourceDefinition) error {
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	got, err := crds.Get(ctx, want.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	// Any update, even one without a change, makes the server validate the whole schema again, which is slow.
	want = want.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(want)
	if equality.Semantic.DeepEqual(got.Spec, want.Spec) {
		return nil
	}
	want.ResourceVersion = got.ResourceVersion
	_, err = crds.Update(ctx, want, metav1.UpdateOptions{})
	return err
}
