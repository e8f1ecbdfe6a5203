package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/audit"
)

// createdMaps records the ConfigMaps that were created.
type createdMaps struct {
	maps []*corev1.ConfigMap
	err  error
}

func (c *createdMaps) Create(_ context.Context, object *corev1.ConfigMap, _ metav1.CreateOptions) (*corev1.ConfigMap, error) {
	if c.err == nil {
		c.maps = append(c.maps, object)
	}
	return object, c.err
}

func auditHooks(created *createdMaps) *hooks {
	h := hooksWith(accountOf("physics", "", "ada"))
	h.recordJobs, h.deletions, h.now = true, created, func() time.Time { return time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC) }
	return h
}

const plainAccount = `{"apiVersion":"account.vc-batch.dev/v1alpha1","kind":"Account","metadata":{"name":"physics","uid":"u1"},"spec":{"description":"new"}}`

func TestAdmissionWritesChangesOfAccountsIntoAnAnnotation(t *testing.T) {
	t.Parallel()
	r := request(admissionv1.Create, "Account", plainAccount, "")
	r.UID, r.UserInfo.Username = "r1", "ada"
	response := changeHandler[accountv1alpha1.Account](auditHooks(&createdMaps{}), "accounts")(t.Context(), r)
	changes, err := writtenChanges(&response)
	if err != nil || len(changes) != 1 || changes[0].Actor != "ada" || changes[0].ID != "r1" || changes[0].Action != accounting.AddAccount {
		t.Errorf("%v: %v, %v", response.Patches, changes, err)
	}
	h := auditHooks(&createdMaps{})
	if h.recordJobs = false; len(changeHandler[accountv1alpha1.Account](h, "accounts")(t.Context(), r).Patches) > 0 {
		t.Error("a change is written although nothing is recorded")
	}
}

// writtenChanges returns the changes that a response writes into the annotation of an object.
func writtenChanges(response *admission.Response) ([]accounting.Change, error) {
	var written string
	for _, operation := range response.Patches {
		if values, ok := operation.Value.(map[string]any); ok && operation.Path == "/metadata/annotations" {
			written, _ = values[audit.Unrecorded].(string)
		}
	}
	return audit.Changes(map[string]string{audit.Unrecorded: written})
}

func TestAdmissionRecordsChangesAndDeletionsOfQOS(t *testing.T) {
	t.Parallel()
	const before = `{"apiVersion":"account.vc-batch.dev/v1alpha1","kind":"QOS","metadata":{"name":"short","uid":"u2"},"spec":{"description":"old"}}`
	created := &createdMaps{}
	h := auditHooks(created)
	update := request(admissionv1.Update, "QOS", strings.Replace(before, "old", "new", 1), before)
	update.UID, update.UserInfo.Username = "r1", "ada"
	response := changeHandler[accountv1alpha1.QOS](h, "qoses")(t.Context(), update)
	changes, err := writtenChanges(&response)
	if err != nil || len(changes) != 1 || changes[0].QOS != "short" || changes[0].Action != accounting.ModifyQOS || changes[0].Info != "description=old->new" {
		t.Errorf("%v: %v, %v", response.Patches, changes, err)
	}
	remove := request(admissionv1.Delete, "QOS", "", before)
	remove.Name, remove.UID, remove.UserInfo.Username = "short", "r2", "ben"
	if response := h.validateHandler(accountv1alpha1.GroupVersion.WithKind("QOS"))(t.Context(), remove); !response.Allowed || len(created.maps) != 1 {
		t.Fatalf("allowed %t, %d ConfigMaps", response.Allowed, len(created.maps))
	}
	deletion, err := audit.ParseDeletion(created.maps[0].Data)
	if err != nil || deletion.QOS != "short" || deletion.UID != "u2" || deletion.Changes[0].Actor != "ben" {
		t.Errorf("%+v, %v", deletion, err)
	}
}

func TestAdmissionRecordsADeletionBeforeItHappens(t *testing.T) {
	t.Parallel()
	handle := func(h *hooks, dryRun bool) admissionv1.AdmissionResponse {
		r := request(admissionv1.Delete, "Account", "", plainAccount)
		r.Name, r.UID, r.UserInfo.Username, r.DryRun = "physics", "r1", "ada", &dryRun
		return h.validateHandler(accountv1alpha1.GroupVersion.WithKind("Account"))(t.Context(), r).AdmissionResponse
	}
	created := &createdMaps{}
	if response := handle(auditHooks(created), false); !response.Allowed || len(created.maps) != 1 {
		t.Fatalf("allowed %t, %d ConfigMaps", response.Allowed, len(created.maps))
	}
	deletion, err := audit.ParseDeletion(created.maps[0].Data)
	if err != nil || deletion.UID != "u1" || deletion.Changes[0].Actor != "ada" {
		text, _ := json.Marshal(deletion)
		t.Errorf("%s, %v", text, err)
	}
	dry := &createdMaps{}
	if response := handle(auditHooks(dry), true); !response.Allowed || len(dry.maps) != 0 {
		t.Error("a dry run is rejected or recorded")
	}
	if response := handle(auditHooks(&createdMaps{err: fmt.Errorf("test: no space")}), false); response.Allowed {
		t.Error("an account is deleted although the deletion cannot be recorded")
	}
}
