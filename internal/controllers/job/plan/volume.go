package plan

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// ClaimName returns the name of the claim for the i-th volume of the job. This is the name in the spec or, if that is
// missing, a name derived from the job's UID.
func ClaimName(job *batchv1alpha1.Job, i int) string {
	if name := job.Spec.Volumes[i].VolumeClaimName; name != "" {
		return name
	}
	return fmt.Sprintf("%s-pvc-%s", job.Name, stableSuffix(string(job.UID), "claim", fmt.Sprint(i)))
}

// ClaimNames returns the names of the claims that a job mounts.
func ClaimNames(job *batchv1alpha1.Job) []string {
	names := make([]string, len(job.Spec.Volumes))
	for i := range names {
		names[i] = ClaimName(job, i)
	}
	return names
}

// missingClaim returns the name of a claim that the job mounts although the claim does not exist and the job contains
// no template for it. It returns "" if there is no such claim.
func (b *builder) missingClaim() string {
	for i := range b.job.Spec.Volumes {
		if name := ClaimName(b.job, i); b.job.Spec.Volumes[i].VolumeClaim == nil && !b.in.Claims[name] {
			return name
		}
	}
	return ""
}

// planVolumes names and creates the claims for which the job contains templates.
func (b *builder) planVolumes() {
	unnamed := false
	var claims []Write
	named := make([]batchv1alpha1.VolumeSpec, len(b.job.Spec.Volumes))
	for i := range b.job.Spec.Volumes {
		v := b.job.Spec.Volumes[i].DeepCopy()
		unnamed = unnamed || v.VolumeClaimName == ""
		v.VolumeClaimName = ClaimName(b.job, i)
		named[i] = *v
		if v.VolumeClaim != nil && !b.in.Claims[v.VolumeClaimName] {
			claims = append(claims, CreateClaim{Claim: &corev1.PersistentVolumeClaim{
				ObjectMeta: pluginapi.ObjectMeta(b.job, v.VolumeClaimName), Spec: *v.VolumeClaim,
			}})
		}
	}
	if unnamed {
		b.appendWrites(NameClaims{Volumes: named})
	}
	b.appendWrites(claims...)
}

// stableSuffix returns twelve letters and digits derived from the parts. In contrast to a random suffix, the result is
// the same after a crash.
func stableSuffix(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "/")))
	return strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:12]
}
