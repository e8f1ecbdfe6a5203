package aggregatedapi

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// testGroup is the group of the tests.
var testGroup = Group{Name: "listing.vc-batch.dev", Version: "v1", Manager: "vcd"}

// registry returns an API server with only these APIServices.
func registry(have ...runtime.Object) *dynamicfake.FakeDynamicClient {
	return dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{registrations: "APIServiceList"}, have...)
}

// registered returns the registration, or nil.
func registered(t *testing.T, client *dynamicfake.FakeDynamicClient) *unstructured.Unstructured {
	t.Helper()
	all, err := client.Resource(registrations).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Items) == 0 {
		return nil
	}
	return &all.Items[0]
}

// writes returns the verbs of the writes.
func writes(actions []clienttesting.Action) []string {
	var all []string
	for _, action := range actions {
		if verb := action.GetVerb(); !slices.Contains([]string{"get", "list", "watch"}, verb) {
			all = append(all, verb)
		}
	}
	return all
}

func TestARegistrationLeadsToWhereTheListsAre(t *testing.T) {
	t.Parallel()
	client := registry()
	here, there := address{"vc", "vc-listing", 4711}, address{"vc", "vc-listing", 4712}
	for _, c := range []struct {
		what   string
		at     address
		ca     string
		writes []string
	}{
		{"the first time", here, "ca", []string{"create"}},
		{"the same again", here, "ca", []string{"create"}},
		{"another port", there, "ca", []string{"create", "update"}},
		{"another certificate", there, "new", []string{"create", "update", "update"}},
	} {
		if err := testGroup.registerAddress(t.Context(), client, c.at, []byte(c.ca), nil); err != nil {
			t.Fatal(err)
		}
		if got := writes(client.Actions()); !slices.Equal(got, c.writes) {
			t.Errorf("%s: wrote %v, want %v", c.what, got, c.writes)
		}
		got := registered(t, client)
		port, _, _ := unstructured.NestedInt64(got.Object, "spec", "service", "port")
		bundle, _, _ := unstructured.NestedString(got.Object, "spec", "caBundle")
		if port != c.at.port || bundle != base64.StdEncoding.EncodeToString([]byte(c.ca)) || got.GetName() != "v1.listing.vc-batch.dev" {
			t.Errorf("%s: %v", c.what, got.Object)
		}
	}
	if err := testGroup.deleteOwnRegistration(t.Context(), client); err != nil || registered(t, client) != nil {
		t.Errorf("it is there still, %v", err)
	}
	if err := testGroup.deleteOwnRegistration(t.Context(), client); err != nil {
		t.Errorf("a second time: %v", err)
	}
}

// TestARegistrationThatWasLeftBehindIsTakenBack verifies that only a registration created by a daemon is removed, not
// one created by a user.
func TestARegistrationThatWasLeftBehindIsTakenBack(t *testing.T) {
	t.Parallel()
	ours := registry()
	if err := testGroup.registerAddress(t.Context(), ours, address{"vc", "vc-listing", 1}, nil, nil); err != nil {
		t.Fatal(err)
	}
	theirs := registry()
	if err := testGroup.registerAddress(t.Context(), theirs, address{"vc", "vc-listing", 1}, nil, nil); err != nil {
		t.Fatal(err)
	}
	own := registered(t, theirs)
	own.SetLabels(nil)
	if _, err := theirs.Resource(registrations).Update(t.Context(), own, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := testGroup.registerAddress(t.Context(), theirs, address{"vc", "vc-listing", 2}, nil, nil); !errors.Is(err, errOtherProgram) {
		t.Errorf("registration of another program: %v", err)
	}
	for name, c := range map[string]struct {
		client *dynamicfake.FakeDynamicClient
		left   bool
	}{"none": {registry(), false}, "ours": {ours, false}, "somebody's": {theirs, true}} {
		if err := testGroup.deleteOwnRegistration(t.Context(), c.client); err != nil || (registered(t, c.client) != nil) != c.left {
			t.Errorf("%s: %v, %v", name, registered(t, c.client), err)
		}
	}
}

// TestTheRegistrationBelongsToAClusterRole verifies that the registration gets the owner, also if the owner was replaced,
// as in a second installation.
func TestTheRegistrationBelongsToAClusterRole(t *testing.T) {
	t.Parallel()
	client := registry()
	for _, uid := range []types.UID{"first", "second"} {
		core := fake.NewClientset(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "vc-accounting", UID: uid}})
		owners, err := ownerReferences(t.Context(), core, "vc-accounting")
		if err != nil {
			t.Fatal(err)
		}
		if err := testGroup.registerAddress(t.Context(), client, address{"vc", "vc-listing", 1}, nil, owners); err != nil {
			t.Fatal(err)
		}
		got := registered(t, client).GetOwnerReferences()
		if len(got) != 1 || got[0].UID != uid || got[0].Kind != "ClusterRole" || got[0].Name != "vc-accounting" {
			t.Errorf("owners %+v, want the ClusterRole with UID %s", got, uid)
		}
	}
	if err := testGroup.registerAddress(t.Context(), client, address{"vc", "vc-listing", 1}, nil, nil); err != nil || len(registered(t, client).GetOwnerReferences()) != 1 {
		t.Errorf("without an owner, the existing one is lost: %v", err)
	}
	if owners, err := ownerReferences(t.Context(), fake.NewClientset(), ""); err != nil || owners != nil {
		t.Errorf("owners without a name: %v, %v", owners, err)
	}
	if _, err := ownerReferences(t.Context(), fake.NewClientset(), "vc-accounting"); err == nil {
		t.Error("a missing owner is no error")
	}
}

func TestTheServiceLeadsToThisMachine(t *testing.T) {
	t.Parallel()
	core := fake.NewClientset()
	for _, port := range []int64{1, 2} {
		if err := ensureLocalService(context.WithoutCancel(t.Context()), core, address{"vc", "vc-listing", port}); err != nil {
			t.Fatal(err)
		}
		got, err := core.CoreV1().Services("vc").Get(t.Context(), "vc-listing", metav1.GetOptions{})
		if err != nil || got.Spec.ExternalName != "localhost" || int64(got.Spec.Ports[0].Port) != port {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if got := strings.Join(writes(core.Actions()), " "); got != "create update" {
		t.Errorf("wrote %s", got)
	}
}
