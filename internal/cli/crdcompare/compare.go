// Package crdcompare compares the CRDs of a cluster with the CRDs that this program contains. Its functions are pure:
// `vcctl crds` and `vcctl doctor` read the CRDs and act on the result.
//
//	In:   a CRD as the API server returns it, and the same CRD of package deploy
//	Out:  Comparison: which of them is newer, and what replacing one by the other would lose
package crdcompare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/deploy"
)

// State is the result of a comparison, seen from the cluster's CRD.
type State string

// The states of a CRD in a cluster.
const (
	Missing State = "missing" // the cluster has no such CRD
	Current State = "current" // the cluster's CRD is this program's
	Older   State = "older"   // the cluster's CRD has a lower version, or none
	Newer   State = "newer"   // the cluster's CRD has a higher version
	Changed State = "changed" // the cluster's CRD has the same version and another spec
	Foreign State = "foreign" // the cluster's CRD has no version and lacks fields of vc: it is probably Volcano's
)

// maxFields limits the lists of fields in a Comparison.
const maxFields = 5

// ourGroups are the API groups whose kinds do not exist in Volcano.
var ourGroups = []string{accountv1alpha1.GroupName, insightv1alpha1.GroupName}

// Comparison describes one CRD of a cluster. It is also the form for -o json and yaml.
type Comparison struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	// Version and OwnVersion are the versions of the cluster's and of this program's schema. 0 means unknown.
	Version    int `json:"version,omitempty"`
	OwnVersion int `json:"ownVersion"`
	// Established is true if the API server serves the kind.
	Established bool `json:"established"`
	// Problem is the reason why the API server does not serve the kind, as in the conditions of the CRD.
	Problem string `json:"problem,omitempty"`
	// Served and Stored list API versions: those that the cluster's CRD serves, and those in which objects may be
	// stored in etcd.
	Served []string `json:"served,omitempty"`
	Stored []string `json:"stored,omitempty"`
	// NotServed lists the API versions that this program's CRD serves and the cluster's CRD does not.
	NotServed []string `json:"notServed,omitempty"`
	// LostVersions lists the stored API versions that this program's CRD does not serve.
	LostVersions []string `json:"lostVersions,omitempty"`
	// MissingFields and ExtraFields list fields that only one of the two schemas has: this program's, and the
	// cluster's. Both lists are limited.
	MissingFields []string `json:"missingFields,omitempty"`
	ExtraFields   []string `json:"extraFields,omitempty"`
}

// Compare compares a cluster's CRD with this program's CRD. have is nil if the cluster has no such CRD.
func Compare(have, own *apiextensionsv1.CustomResourceDefinition) Comparison {
	c := Comparison{Name: own.Name, State: Missing, OwnVersion: schemaVersion(own)}
	if have == nil {
		return c
	}
	own = own.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(own)
	c.Version = schemaVersion(have)
	c.readConditions(have)
	c.compareVersions(have, own)
	c.MissingFields, c.ExtraFields = compareFields(have, own)
	c.State = c.state(have, equality.Semantic.DeepEqual(have.Spec, own.Spec))
	return c
}

// schemaVersion returns the version of a CRD's schema, or 0 if the CRD does not state a valid one.
func schemaVersion(crd *apiextensionsv1.CustomResourceDefinition) int {
	version, err := strconv.Atoi(crd.Annotations[deploy.CRDVersionAnnotation])
	if err != nil {
		return 0
	}
	return max(version, 0)
}

// mayBeVolcanos reports whether a CRD lacks fields of vc, and Volcano has a CRD of this name.
func (c *Comparison) mayBeVolcanos(have *apiextensionsv1.CustomResourceDefinition) bool {
	return len(c.MissingFields) > 0 && !slices.Contains(ourGroups, have.Spec.Group)
}

func (c *Comparison) state(have *apiextensionsv1.CustomResourceDefinition, sameSpec bool) State {
	isUnversioned := c.Version == 0
	switch {
	case sameSpec:
		return Current
	case isUnversioned && c.mayBeVolcanos(have):
		return Foreign
	case c.Version < c.OwnVersion:
		return Older
	case c.Version > c.OwnVersion:
		return Newer
	}
	return Changed
}

func (c *Comparison) readConditions(have *apiextensionsv1.CustomResourceDefinition) {
	for _, condition := range have.Status.Conditions {
		isTrue := condition.Status == apiextensionsv1.ConditionTrue
		switch {
		case condition.Type == apiextensionsv1.Established && isTrue:
			c.Established = true
		case condition.Type == apiextensionsv1.NamesAccepted && condition.Status == apiextensionsv1.ConditionFalse:
			c.Problem = condition.Message
		}
	}
}

func (c *Comparison) compareVersions(have, own *apiextensionsv1.CustomResourceDefinition) {
	c.Served, c.Stored = servedVersions(have), slices.Clone(have.Status.StoredVersions)
	ours := servedVersions(own)
	for _, version := range ours {
		if !slices.Contains(c.Served, version) {
			c.NotServed = append(c.NotServed, version)
		}
	}
	for _, version := range c.Stored {
		if !slices.Contains(ours, version) {
			c.LostVersions = append(c.LostVersions, version)
		}
	}
}

func servedVersions(crd *apiextensionsv1.CustomResourceDefinition) []string {
	var names []string
	for _, version := range crd.Spec.Versions {
		if version.Served {
			names = append(names, version.Name)
		}
	}
	return names
}

// compareFields returns the fields that only one of the schemas has, for the API versions that both CRDs have.
func compareFields(have, own *apiextensionsv1.CustomResourceDefinition) (missing, extra []string) {
	for _, ours := range own.Spec.Versions {
		for _, theirs := range have.Spec.Versions {
			if ours.Name != theirs.Name || ours.Schema == nil || theirs.Schema == nil {
				continue
			}
			missing = append(missing, fieldsOnlyIn(ours.Schema.OpenAPIV3Schema, theirs.Schema.OpenAPIV3Schema, "")...)
			extra = append(extra, fieldsOnlyIn(theirs.Schema.OpenAPIV3Schema, ours.Schema.OpenAPIV3Schema, "")...)
		}
	}
	return limitFields(missing), limitFields(extra)
}

// fieldsOnlyIn returns the paths of the fields that a has and b lacks. It does not look below fields where b accepts
// any content.
func fieldsOnlyIn(a, b *apiextensionsv1.JSONSchemaProps, path string) []string {
	if a == nil || b == nil || acceptsAnything(b) {
		return nil
	}
	var only []string
	for name, property := range a.Properties {
		field := strings.TrimPrefix(path+"."+name, ".")
		other, found := b.Properties[name]
		if !found {
			only = append(only, field)
			continue
		}
		only = append(only, fieldsOnlyIn(&property, &other, field)...)
	}
	if a.Items != nil && b.Items != nil {
		only = append(only, fieldsOnlyIn(a.Items.Schema, b.Items.Schema, path+"[]")...)
	}
	if a.AdditionalProperties != nil && b.AdditionalProperties != nil {
		only = append(only, fieldsOnlyIn(a.AdditionalProperties.Schema, b.AdditionalProperties.Schema, path+"{}")...)
	}
	slices.Sort(only)
	return only
}

// acceptsAnything reports whether a schema keeps fields that it does not list.
func acceptsAnything(schema *apiextensionsv1.JSONSchemaProps) bool {
	return schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
}

func limitFields(fields []string) []string {
	if len(fields) <= maxFields {
		return fields
	}
	return append(slices.Clone(fields[:maxFields]), fmt.Sprintf("%d more", len(fields)-maxFields))
}
