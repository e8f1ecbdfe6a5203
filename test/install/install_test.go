package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/api"
	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/local/controlplane"
)

// patience is the time limit for everything on a busy machine. The garbage collector searches for new kinds every half
// minute, and in a new cluster ours are new. If the deletion of a CRD's objects fails, the API server may repeat it a
// minute later.
const patience = 2 * time.Minute

// plane is the control plane that the tests of this package use, with install.yaml applied.
var plane *controlplane.ControlPlane

// kubeconfig is the path of the administrator's kubeconfig.
var kubeconfig string

func TestMain(m *testing.M) {
	runVcdIfAsked()
	runControlPlaneIfAsked()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "vc-install-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	kubeconfig = filepath.Join(dir, "kubeconfig")
	plane, err = controlplane.Start(context.Background(), controlplane.Options{Dir: dir, Ephemeral: true})
	if err != nil {
		return 1, err
	}
	defer plane.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := apply(ctx, plane.RESTConfig(), deploy.InstallYAML); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// apply works like `kubectl apply -f`: in the order of the file, and waiting until the server serves each kind.
func apply(ctx context.Context, config *rest.Config, manifest []byte) error {
	objects, err := decode(manifest)
	if err != nil {
		return err
	}
	all, err := newClient(config)
	if err != nil {
		return err
	}
	for _, object := range objects {
		err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			err := all.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("test"), client.ForceOwnership)
			if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
				return false, nil
			}
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

func decode(manifest []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// newClient returns a client for all kinds, ours and Kubernetes'.
func newClient(config *rest.Config) (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), api.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// admin returns a client with all permissions.
func admin(t *testing.T) client.Client {
	t.Helper()
	c, err := newClient(plane.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// eventually waits until check returns nil. If it never does, it fails with the last error before the timeout.
func eventually(t *testing.T, check func(ctx context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := check(ctx)
		if ctx.Err() == nil || last == nil {
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("%v: %v", err, last)
	}
}

// removeWebhooks removes the webhook configurations of earlier tests.
func removeWebhooks(t *testing.T) {
	t.Helper()
	c := admin(t)
	if err := errors.Join(
		c.DeleteAllOf(t.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{}),
		c.DeleteAllOf(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{}),
	); err != nil {
		t.Fatal(err)
	}
}
