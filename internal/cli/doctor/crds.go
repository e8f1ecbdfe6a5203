package doctor

import (
	"context"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/vc-batch/vc/deploy"
	"github.com/vc-batch/vc/internal/cli/crdcompare"
)

func checkCRDs(ctx context.Context, r *reader) []Finding {
	var compared []crdcompare.Comparison
	for _, own := range deploy.CRDs() {
		have := &apiextensionsv1.CustomResourceDefinition{}
		found, problem := r.read(ctx, have, "CustomResourceDefinition", "", own.Name)
		if problem != nil {
			return []Finding{*problem}
		}
		if !found {
			have = nil
		}
		compared = append(compared, crdcompare.Compare(have, own))
	}
	return decideCRDs(compared)
}

func decideCRDs(compared []crdcompare.Comparison) []Finding {
	var findings []Finding
	var missing []string
	for i := range compared {
		if compared[i].State == crdcompare.Missing {
			missing = append(missing, compared[i].Name)
			continue
		}
		findings = append(findings, judgeCRD(&compared[i])...)
	}
	if len(missing) > 0 {
		findings = append(findings, failed("install the CRDs: vcctl crds apply", "CRD %s", describeMissing(missing)))
	}
	return orFine(findings, ok("all %d CRDs are served and have the versions of this vcctl", len(compared)))
}

// judgeCRD returns the findings about one CRD that exists.
func judgeCRD(c *crdcompare.Comparison) []Finding {
	const upgrade = "upgrade the CRDs: vcctl crds apply"
	var findings []Finding
	switch c.State {
	case crdcompare.Older:
		findings = append(findings, warning(upgrade, "CRD %s has version %d, which is older than version %d of this vcctl%s", c.Name, c.Version, c.OwnVersion, listFields("; it lacks ", c.MissingFields)))
	case crdcompare.Newer:
		findings = append(findings, warning("use a vcctl of the version that installed the CRDs", "CRD %s has version %d, which is newer than version %d of this vcctl", c.Name, c.Version, c.OwnVersion))
	case crdcompare.Changed:
		findings = append(findings, warning("restore the CRDs: vcctl crds apply", "CRD %s differs from this vcctl's, although both have version %d%s", c.Name, c.Version, listFields("; it lacks ", c.MissingFields)))
	case crdcompare.Foreign:
		findings = append(findings, failed("replace the CRDs of Volcano: vcctl crds apply", "CRD %s is not vc's, but probably Volcano's%s", c.Name, listFields("; it lacks ", c.MissingFields)))
	case crdcompare.Current, crdcompare.Missing:
	}
	if !c.Established {
		findings = append(findings, failed("see the conditions of the CRD: kubectl describe crd "+c.Name, "the API server does not serve the kind of CRD %s%s", c.Name, prefixText(": ", c.Problem)))
	}
	if len(c.NotServed) > 0 {
		findings = append(findings, failed(upgrade, "CRD %s does not serve version %s", c.Name, strings.Join(c.NotServed, ", ")))
	}
	if len(c.LostVersions) > 0 {
		findings = append(findings, warning("use a vcctl of the version that installed the CRDs", "objects of CRD %s may be stored in version %s, which this vcctl does not know", c.Name, strings.Join(c.LostVersions, ", ")))
	}
	return findings
}

func listFields(before string, fields []string) string {
	return prefixText(before, strings.Join(fields, ", "))
}

// prefixText returns text with a prefix, or "" if text is empty.
func prefixText(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
