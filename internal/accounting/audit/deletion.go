package audit

import (
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
)

const (
	// DeletionLabel is the label of the ConfigMaps with the changes of deleted accounts.
	DeletionLabel = "account.vc-batch.dev/deletion"
	// deletionKey is the key of such a ConfigMap.
	deletionKey = "deletion"
)

// AccountDeletion holds the changes that must be recorded after the deletion of an account. The last one is the deletion.
type AccountDeletion struct {
	Account string
	UID     types.UID
	Changes []accounting.Change
}

// NewDeletion returns the deletion of an account: the changes in its annotation, and the deletion. The ID of the latter
// follows from the UID of the account, because several clients may delete it at the same time.
func NewDeletion(r Request, account *accountv1alpha1.Account) (*AccountDeletion, error) {
	changes, err := Changes(account.Annotations)
	if err != nil {
		return nil, err
	}
	last := accounting.Change{ID: string(account.UID) + "/deletion", Time: r.Time, Actor: r.User, Account: account.Name, Action: accounting.RemoveAccount}
	last.Info, last.Users = Describe(&account.Spec, &accountv1alpha1.AccountSpec{})
	return &AccountDeletion{Account: account.Name, UID: account.UID, Changes: append(changes, last)}, nil
}

// Data returns the data of the ConfigMap.
func (d *AccountDeletion) Data() (map[string]string, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("deletion of account %s: %w", d.Account, err)
	}
	return map[string]string{deletionKey: string(text)}, nil
}

// Time returns the time of the request.
func (d *AccountDeletion) Time() time.Time { return d.Changes[len(d.Changes)-1].Time }

// ParseDeletion parses the data of a ConfigMap.
func ParseDeletion(data map[string]string) (*AccountDeletion, error) {
	d := &AccountDeletion{}
	if err := json.Unmarshal([]byte(data[deletionKey]), d); err != nil {
		return nil, fmt.Errorf("key %s: %w", deletionKey, err)
	}
	if d.Account == "" || d.UID == "" || len(d.Changes) == 0 {
		return nil, fmt.Errorf("key %s: the account, its UID or the changes are missing", deletionKey)
	}
	return d, nil
}
