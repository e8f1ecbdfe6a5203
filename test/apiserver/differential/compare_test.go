package differential

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// side is one of the two servers.
type side struct {
	do func(r *request) (runtime.Object, error)
	// symbols names the UIDs that this server has chosen. Both sides give the same names.
	symbols map[string]string
	uids    map[string]types.UID // the opposite of symbols
	// versions holds the objects of each name, from the oldest version to the newest.
	versions map[key][]client.Object
	count    map[key]int // number of UIDs of each name
	// generated holds the last name that the server has generated for a prefix.
	generated map[string]string
}

func newSide(do func(r *request) (runtime.Object, error)) *side {
	return &side{
		do: do, symbols: map[string]string{}, uids: map[string]types.UID{}, versions: map[key][]client.Object{}, count: map[key]int{}, generated: map[string]string{},
	}
}

// outcome is what is compared of a response.
type outcome struct {
	Code   int32
	Reason string
	Causes []string
	Object any
}

func outcomeOf(s *side, object runtime.Object, err error) outcome {
	if err == nil {
		return outcome{Object: s.normalize(object)}
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return outcome{Reason: "not a status: " + err.Error()}
	}
	o := outcome{Code: status.Status().Code, Reason: string(status.Status().Reason)}
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			o.Causes = append(o.Causes, string(cause.Type))
		}
	}
	slices.Sort(o.Causes)
	o.Causes = slices.Compact(o.Causes)
	return o
}

// normalize returns the JSON form of an object without what differs between the servers.
func (s *side) normalize(object runtime.Object) any {
	if object == nil {
		return nil
	}
	data, err := json.Marshal(object)
	if err != nil {
		return err.Error()
	}
	var content any
	if err := json.Unmarshal(data, &content); err != nil {
		return err.Error()
	}
	return s.normalizeValue("", content)
}

func (s *side) normalizeValue(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			switch key {
			case "managedFields", "resourceVersion":
				delete(v, key)
			case "kind", "apiVersion":
				// The real client returns items of lists of custom resources with their kinds.
				if _, isObject := v["metadata"]; isObject {
					delete(v, key)
				}
			case "continue":
				v[key] = "token"
			default:
				v[key] = s.normalizeValue(key, field)
			}
		}
	case []any:
		for i := range v {
			v[i] = s.normalizeValue("", v[i])
		}
	case string:
		return s.normalizeText(name, v)
	}
	return value
}

func (s *side) normalizeText(name, text string) string {
	if symbol, ok := s.symbols[text]; ok {
		return symbol
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil && time.Since(t).Abs() < 2*time.Hour {
		return "now"
	}
	if name == "name" && strings.HasPrefix(text, generatedPrefix) {
		return generatedPrefix
	}
	return text
}

// observe stores the object of a response as the newest version, and names its UID.
func (s *side) observe(k key, object client.Object) {
	versions := s.versions[k]
	if len(versions) > 0 && versions[len(versions)-1].GetResourceVersion() == object.GetResourceVersion() {
		return
	}
	s.versions[k] = append(versions, object)
	s.observeUID(k, object)
}

// read returns the current object, or nil.
func (s *side) read(k key) client.Object {
	object, err := s.do(&request{Verb: "get", Kind: k.kind, Namespace: k.namespace, Name: k.name})
	if err != nil {
		return nil
	}
	read, _ := object.(client.Object)
	return read
}

// itemsOf returns the names of the items of a list.
func itemsOf(list runtime.Object) (names []string) {
	_ = meta.EachListItem(list, func(o runtime.Object) error {
		object, err := meta.Accessor(o)
		if err == nil {
			name := object.GetName()
			if strings.HasPrefix(name, generatedPrefix) {
				name = generatedPrefix
			}
			names = append(names, object.GetNamespace()+"/"+name)
		}
		return err
	})
	return names
}

// observeUID names the UID of an object of a response.
func (s *side) observeUID(k key, object client.Object) {
	uid := string(object.GetUID())
	if uid == "" || s.symbols[uid] != "" {
		return
	}
	s.count[k]++
	symbol := fmt.Sprintf("uid %s %d", k, s.count[k])
	s.symbols[uid], s.uids[symbol] = symbol, types.UID(uid)
}

func priorityClass(name string, value int32) client.Object {
	return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}
}

// difference lists the fields that differ between two values that consist of maps and lists.
func difference(theirs, ours any) string {
	var lines []string
	listDifferences("", asFields(theirs), asFields(ours), &lines)
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func asFields(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var fields any
	if err := json.Unmarshal(data, &fields); err != nil {
		return err.Error()
	}
	return fields
}

func listDifferences(path string, theirs, ours any, lines *[]string) {
	if reflect.DeepEqual(theirs, ours) {
		return
	}
	if r, ok := theirs.([]any); ok {
		if o, ok := ours.([]any); ok && len(r) == len(o) {
			for i := range r {
				listDifferences(fmt.Sprintf("%s[%d]", path, i), r[i], o[i], lines)
			}
			return
		}
	}
	r, isMap := theirs.(map[string]any)
	o, isOurMap := ours.(map[string]any)
	if !isMap || !isOurMap {
		*lines = append(*lines, fmt.Sprintf("%s: real %s, ours %s", path, asText(theirs), asText(ours)))
		return
	}
	names := map[string]bool{}
	for name := range r {
		names[name] = true
	}
	for name := range o {
		names[name] = true
	}
	for name := range names {
		rv, inReal := r[name]
		ov, inOurs := o[name]
		switch {
		case !inReal:
			*lines = append(*lines, fmt.Sprintf("%s.%s: real has none, ours %s", path, name, asText(ov)))
		case !inOurs:
			*lines = append(*lines, fmt.Sprintf("%s.%s: real %s, ours has none", path, name, asText(rv)))
		default:
			listDifferences(path+"."+name, rv, ov, lines)
		}
	}
}

func asText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
