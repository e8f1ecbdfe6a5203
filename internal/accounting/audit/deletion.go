package audit

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
)

const (
	// DeletionLabel is the label of the ConfigMaps with the changes of deleted accounts and QOS.
	DeletionLabel = "account.vc-batch.dev/deletion"
	// deletionKey is the key of such a ConfigMap.
	deletionKey = "deletion"
)

// Deletion holds the changes that must be recorded after the deletion of an account or a QOS. The last one is the deletion.
type Deletion struct {
	// Account or QOS is the name of the object. The other one is empty.
	Account string `json:",omitempty"`
	QOS     string `json:",omitempty"`
	UID     types.UID
	Changes []accounting.Change
}

// NewDeletion returns the unrecorded changes of an object, followed by its deletion. The ID of the deletion contains the UID
// of the object, so that it is recorded once even if several clients delete the object at the same time.
func NewDeletion(r Request, object Object) (*Deletion, error) {
	changes, err := Changes(object.GetAnnotations())
	if err != nil {
		return nil, err
	}
	k := kindOf(object)
	r.ID = string(object.GetUID()) + "/deletion"
	last := k.newChange(r, object, k.remove)
	last.Info, last.Users = Describe(k.spec, k.empty)
	return &Deletion{Account: last.Account, QOS: last.QOS, UID: object.GetUID(), Changes: append(changes, last)}, nil
}

// Object returns an object with the kind and the name of the deleted one.
func (d *Deletion) Object() Object {
	if d.QOS != "" {
		return &accountv1alpha1.QOS{ObjectMeta: metav1.ObjectMeta{Name: d.QOS}}
	}
	return &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: d.Account}}
}

// Data returns the data of the ConfigMap.
func (d *Deletion) Data() (map[string]string, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("deletion of %s: %w", NameOf(d.Object()), err)
	}
	return map[string]string{deletionKey: string(text)}, nil
}

// Time returns the time of the request.
func (d *Deletion) Time() time.Time { return d.Changes[len(d.Changes)-1].Time }

// ParseDeletion parses the data of a ConfigMap.
func ParseDeletion(data map[string]string) (*Deletion, error) {
	d := &Deletion{}
	if err := json.Unmarshal([]byte(data[deletionKey]), d); err != nil {
		return nil, fmt.Errorf("key %s: %w", deletionKey, err)
	}
	hasName := d.Account != "" || d.QOS != ""
	if !hasName || d.UID == "" || len(d.Changes) == 0 {
		return nil, fmt.Errorf("key %s: the account or QOS, its UID or the changes are missing", deletionKey)
	}
	return d, nil
}
