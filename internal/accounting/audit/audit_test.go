package audit

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func newAccount(description string, annotations map[string]string) *accountv1alpha1.Account {
	return &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "physics", UID: "u1", Annotations: annotations}, Spec: accountv1alpha1.AccountSpec{Description: description}}
}

func changesOf(t *testing.T, account *accountv1alpha1.Account) []accounting.Change {
	t.Helper()
	changes, err := Changes(account.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

func idsOf(changes []accounting.Change) string {
	ids := make([]string, len(changes))
	for i := range changes {
		ids[i] = changes[i].ID
	}
	return strings.Join(ids, " ")
}

func TestAChangeIsWrittenWithItsUser(t *testing.T) {
	t.Parallel()
	account := newAccount("new", map[string]string{Unrecorded: `[{"ID":"forged","Actor":"eve"}]`})
	if err := Annotate(Request{ID: "r1", User: "ada", Time: noon}, nil, account); err != nil {
		t.Fatal(err)
	}
	want := []accounting.Change{{ID: "r1", Time: noon, Actor: "ada", Action: accounting.AddAccount, Account: "physics", Info: "description=new"}}
	if diff := cmp.Diff(want, changesOf(t, account)); diff != "" {
		t.Error(diff)
	}
	updated := newAccount("other", nil) // the client omits the annotation
	if err := Annotate(Request{ID: "r2", User: "ben", Time: noon}, account, updated); err != nil {
		t.Fatal(err)
	}
	want = append(want, accounting.Change{ID: "r2", Time: noon, Actor: "ben", Action: accounting.ModifyAccount, Account: "physics", Info: "description=new->other"})
	if diff := cmp.Diff(want, changesOf(t, updated)); diff != "" {
		t.Error(diff)
	}
}

func TestAChangeOfAQOSIsWrittenLikeThatOfAnAccount(t *testing.T) {
	t.Parallel()
	old := &accountv1alpha1.QOS{ObjectMeta: metav1.ObjectMeta{Name: "short", UID: "u2"}, Spec: accountv1alpha1.QOSSpec{PriorityClassName: "low"}}
	updated := old.DeepCopy()
	updated.Spec.PriorityClassName, updated.Spec.Limits = "high", &accountv1alpha1.QOSLimits{MaxRunningJobs: new(int32(4))}
	if err := Annotate(Request{ID: "r1", User: "ada", Time: noon}, old, updated); err != nil {
		t.Fatal(err)
	}
	deletion, err := NewDeletion(Request{ID: "r2", User: "ben", Time: noon}, updated)
	if err != nil {
		t.Fatal(err)
	}
	want := &Deletion{QOS: "short", UID: "u2", Changes: []accounting.Change{
		{ID: "r1", Time: noon, Actor: "ada", Action: accounting.ModifyQOS, QOS: "short", Info: "limits.maxRunningJobs=4 priorityClassName=low->high"},
		{ID: "u2/deletion", Time: noon, Actor: "ben", Action: accounting.RemoveQOS, QOS: "short", Info: "limits.maxRunningJobs=4->none priorityClassName=high->none"},
	}}
	if diff := cmp.Diff(want, deletion); diff != "" {
		t.Error(diff)
	}
	if _, isQOS := deletion.Object().(*accountv1alpha1.QOS); !isQOS || NameOf(deletion.Object()) != "QOS short" {
		t.Errorf("the deleted object is %s", NameOf(deletion.Object()))
	}
}

func TestOnlyTheRecorderAcknowledgesChanges(t *testing.T) {
	t.Parallel()
	old := newAccount("", map[string]string{Unrecorded: `[{"ID":"r1"},{"ID":"r2"}]`})
	for mayAcknowledge, want := range map[bool]string{true: "r2", false: "r1 r2"} {
		account := newAccount("", map[string]string{Acknowledged: "r1", Unrecorded: `[]`})
		if err := Annotate(Request{ID: "r3", MayAcknowledge: mayAcknowledge}, old, account); err != nil {
			t.Fatal(err)
		}
		if got := idsOf(changesOf(t, account)); got != want {
			t.Errorf("may acknowledge %t: %s, want %s", mayAcknowledge, got, want)
		}
		if account.Annotations[Acknowledged] != "" {
			t.Error("the acknowledgement is stored")
		}
	}
}

func TestAnUpdateThatChangesNothingIsNoChange(t *testing.T) {
	t.Parallel()
	account := newAccount("same", map[string]string{"other": "x"})
	if err := Annotate(Request{ID: "r1"}, newAccount("same", nil), account); err != nil {
		t.Fatal(err)
	}
	if len(account.Annotations) != 1 {
		t.Errorf("annotations %v", account.Annotations)
	}
}

func TestTooManyUnrecordedChangesAreAnError(t *testing.T) {
	t.Parallel()
	account := newAccount("", nil)
	var err error
	for i := 0; i < 10_000 && err == nil; i++ {
		next := newAccount(strings.Repeat("x", 100+i%2), nil)
		err = Annotate(Request{ID: "r"}, account, next)
		account = next
	}
	var full *FullError
	if !errors.As(err, &full) {
		t.Errorf("error %v", err)
	}
}

func TestADeletionContainsTheUnrecordedChanges(t *testing.T) {
	t.Parallel()
	deletion, err := NewDeletion(Request{ID: "r9", User: "ada", Time: noon}, newAccount("old", map[string]string{Unrecorded: `[{"ID":"r1"}]`}))
	if err != nil {
		t.Fatal(err)
	}
	data, err := deletion.Data()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ParseDeletion(data)
	if diff := cmp.Diff(deletion, parsed); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	changes := parsed.Changes
	if !parsed.Time().Equal(noon) || idsOf(changes) != "r1 u1/deletion" || changes[1].Actor != "ada" || changes[1].Action != accounting.RemoveAccount {
		t.Errorf("%v", changes)
	}
	if _, err := ParseDeletion(nil); err == nil {
		t.Error("an empty ConfigMap is a deletion")
	}
}

func TestAcknowledgedChangesLeaveTheAnnotationAlsoWithoutAdmission(t *testing.T) {
	t.Parallel()
	annotations := map[string]string{Unrecorded: `[{"ID":"r1"},{"ID":"r2"}]`}
	patch, err := Acknowledge(annotations, []accounting.Change{{ID: "r1"}})
	if err != nil {
		t.Fatal(err)
	}
	left, err := Changes(map[string]string{Unrecorded: patch[Unrecorded].(string)})
	if err != nil || idsOf(left) != "r2" || patch[Acknowledged] != "r1" {
		t.Errorf("%v, %v", patch, err)
	}
}

func TestTheDescriptionNamesFieldsAndUsers(t *testing.T) {
	t.Parallel()
	before := &accountv1alpha1.AccountSpec{
		Shares: new(int32(1)), Queues: []string{"a"},
		Users: []accountv1alpha1.AccountUser{{Name: "mei", Default: true, Limits: &accountv1alpha1.UserLimits{MaxRunningJobs: new(int32(4))}}, {Name: "omar"}},
	}
	after := &accountv1alpha1.AccountSpec{
		Parent: "science", Queues: []string{"a", "b"}, Limits: &accountv1alpha1.AccountLimits{MaxRunningJobs: new(int32(9))},
		Users: []accountv1alpha1.AccountUser{{Name: "mei", Limits: &accountv1alpha1.UserLimits{MaxRunningJobs: new(int32(5))}}, {Name: "zoe"}},
	}
	info, users := Describe(before, after)
	want := `limits.maxRunningJobs=9 parent=science queues=["a"]->["a","b"] shares=1->none users[mei].default=true->none ` +
		`users[mei].limits.maxRunningJobs=4->5 users[omar]=listed->none users[zoe]=listed`
	if diff := cmp.Diff(want, info); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"mei", "omar", "zoe"}, users); diff != "" {
		t.Error(diff)
	}
}

// TestAValueIsNotMistakenForOtherFields writes the description of another change into a value.
func TestAValueIsNotMistakenForOtherFields(t *testing.T) {
	t.Parallel()
	info, _ := Describe(&accountv1alpha1.AccountSpec{Description: "old"}, &accountv1alpha1.AccountSpec{Description: "new shares=1->100"})
	if want := `description=old->"new shares=1-\u003e100"`; info != want {
		t.Errorf("got %s, want %s", info, want)
	}
}

func TestAnAccountWithManyUsersCanBeCreated(t *testing.T) {
	t.Parallel()
	account := newAccount("", nil)
	for i := range 4000 {
		account.Spec.Users = append(account.Spec.Users, accountv1alpha1.AccountUser{Name: fmt.Sprintf("system:serviceaccount:a-long-namespace:student-%05d", i)})
	}
	if err := Annotate(Request{ID: "r1"}, nil, account); err != nil {
		t.Fatal(err)
	}
	if users := changesOf(t, account)[0].Users; len(users) < 1000 || users[0] != "system:serviceaccount:a-long-namespace:student-00000" {
		t.Errorf("the change has %d users", len(users))
	}
}
