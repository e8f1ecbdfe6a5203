// Package audit keeps the changes of accounts and QOS until they are in the accounting database.
//
// Admission writes each change into an annotation of the account or the QOS, in the write that makes the change. So either
// both the change and its record are stored, or neither. The recorder stores the changes of the annotation in the database,
// and acknowledges them with another annotation. Admission then removes them. The last changes of a deleted object are in a
// ConfigMap.
//
//	In:   the versions of an account or a QOS before and after a request, and the user who sent it
//	Out:  annotations; changes for the database
//
// # Invariants
//
//   - A client cannot remove, change or invent a change in the annotation: admission computes the annotation from that of
//     the old version. Only a client that may record the object acknowledges changes.
//   - A change has the UID of its request as ID, so the database stores it once.
package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vc-batch/vc/internal/accounting"
)

const (
	// Unrecorded is the annotation with the changes of an object that are not in the database yet.
	Unrecorded = "account.vc-batch.dev/unrecorded-changes"
	// Acknowledged is the annotation with which the recorder acknowledges changes: the IDs, separated by commas.
	Acknowledged = "account.vc-batch.dev/recorded-changes"
	// RecordVerb is the verb that permits acknowledging changes.
	RecordVerb = "record"
	// maxBytes limits the annotation. The API server permits 256 KiB for all annotations of an object.
	maxBytes = 128 << 10
	// maxInfoBytes limits the description of a change.
	maxInfoBytes = 8 << 10
	// maxUserBytes limits the names of the users of a change, so that an account with many long names can be created.
	maxUserBytes = 64 << 10
)

// Request is a request that creates, changes or deletes an account or a QOS.
type Request struct {
	// ID is the UID of the request. User is the user who sent it.
	ID, User string
	Time     time.Time
	// MayAcknowledge is true if the user may acknowledge changes.
	MayAcknowledge bool
}

// FullError means that an object, for example "account physics", has too many changes that are not recorded.
type FullError struct{ Object string }

func (e *FullError) Error() string {
	return fmt.Sprintf("%s has too many changes that are not in the accounting database yet: check that vcd accounting runs and reaches its database, and try again", e.Object)
}

// Annotate writes the change that a request makes into the annotations of an object. old is nil if the object is new.
func Annotate(r Request, old, object Object) error {
	var changes []accounting.Change
	k := kindOf(object)
	change, before := k.newChange(r, object, k.add), k.empty
	if old != nil {
		var err error
		if changes, err = Changes(old.GetAnnotations()); err != nil {
			return err
		}
		change.Action, before = k.modify, kindOf(old).spec
	}
	annotations := object.GetAnnotations()
	if r.MayAcknowledge {
		changes = withoutAcknowledged(changes, annotations)
	}
	change.Info, change.Users = Describe(before, k.spec)
	if old == nil || change.Info != "" {
		changes = append(changes, change)
	}
	delete(annotations, Acknowledged)
	delete(annotations, Unrecorded)
	if len(changes) == 0 {
		return nil
	}
	text, err := json.Marshal(changes)
	if err != nil {
		return fmt.Errorf("changes of %s: %w", NameOf(object), err)
	}
	if len(text) > maxBytes {
		return &FullError{NameOf(object)}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[Unrecorded] = string(text)
	object.SetAnnotations(annotations)
	return nil
}

func withoutAcknowledged(changes []accounting.Change, annotations map[string]string) []accounting.Change {
	acknowledged := strings.Split(annotations[Acknowledged], ",")
	return slices.DeleteFunc(changes, func(c accounting.Change) bool { return slices.Contains(acknowledged, c.ID) })
}

// Changes returns the changes in the annotations of an object.
func Changes(annotations map[string]string) ([]accounting.Change, error) {
	text := annotations[Unrecorded]
	if text == "" {
		return nil, nil
	}
	var changes []accounting.Change
	if err := json.Unmarshal([]byte(text), &changes); err != nil {
		return nil, fmt.Errorf("annotation %s: %w", Unrecorded, err)
	}
	return changes, nil
}

// Acknowledge returns the annotations that acknowledge changes, for a merge patch of an object. They also remove the
// changes, in case admission does not run any more.
func Acknowledge(annotations map[string]string, recorded []accounting.Change) (map[string]any, error) {
	changes, err := Changes(annotations)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(recorded))
	for i := range recorded {
		ids[i] = recorded[i].ID
	}
	left := slices.DeleteFunc(changes, func(c accounting.Change) bool { return slices.Contains(ids, c.ID) })
	patch := map[string]any{Acknowledged: strings.Join(ids, ","), Unrecorded: nil}
	if len(left) > 0 {
		text, err := json.Marshal(left)
		if err != nil {
			return nil, err
		}
		patch[Unrecorded] = string(text)
	}
	return patch, nil
}

// Describe returns the fields that differ between two specs of an account or a QOS, with their values, and the users whose
// entries differ. Both are cut off if they are too long. It returns an empty text if nothing differs.
func Describe(before, after any) (info string, users []string) {
	old, fresh := flattenSpec(before), flattenSpec(after)
	paths := maps.Clone(old)
	maps.Copy(paths, fresh)
	var parts []string
	changed := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		from, hadValue := old[path]
		to, hasValue := fresh[path]
		switch {
		case hadValue && hasValue && from.text == to.text:
			continue
		case !hadValue:
			parts = append(parts, path+"="+to.text)
		case !hasValue:
			parts = append(parts, path+"="+from.text+"->none")
		default:
			parts = append(parts, path+"="+from.text+"->"+to.text)
		}
		if user := paths[path].user; user != "" {
			changed[user] = true
		}
	}
	info = strings.Join(parts, " ")
	if len(info) > maxInfoBytes {
		info = strings.ToValidUTF8(info[:maxInfoBytes], "") + "..."
	}
	return info, firstNames(slices.Sorted(maps.Keys(changed)), maxUserBytes)
}

// firstNames returns the first names, with at most most bytes.
func firstNames(names []string, most int) []string {
	for i, name := range names {
		if most -= len(name); most < 0 {
			return names[:i]
		}
	}
	return names
}

// value is the value of a field as JSON. user is the user to whose entry it belongs, or "".
type value struct{ text, user string }

// flattenSpec returns the fields of a spec by path, for example users[mei].limits.maxRunningJobs.
func flattenSpec(spec any) map[string]value {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil // a spec was decoded from JSON
	}
	var members map[string]any
	if json.Unmarshal(text, &members) != nil {
		return nil
	}
	fields := map[string]value{}
	users, _ := members["users"].([]any)
	delete(members, "users")
	addFields(fields, "", "", members)
	for _, entry := range users {
		member, _ := entry.(map[string]any)
		name, _ := member["name"].(string)
		delete(member, "name")
		path := "users[" + name + "]"
		fields[path] = value{"listed", name}
		addFields(fields, path+".", name, member)
	}
	return fields
}

func addFields(fields map[string]value, prefix, user string, members map[string]any) {
	for key, member := range members {
		if below, ok := member.(map[string]any); ok {
			addFields(fields, prefix+key+".", user, below)
			continue
		}
		text, err := json.Marshal(member)
		if err != nil {
			continue // it was decoded from JSON
		}
		fields[prefix+key] = value{withoutQuotes(string(text)), user}
	}
}

// withoutQuotes returns a value without the quotes of JSON, unless it could then be mistaken for several fields.
func withoutQuotes(text string) string {
	bare := strings.Trim(text, `"`)
	if strings.ContainsAny(bare, ` ="\`) {
		return text
	}
	return bare
}
