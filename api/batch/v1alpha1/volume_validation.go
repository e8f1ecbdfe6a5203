package v1alpha1

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateVolumes checks that the volumes have different mount paths and that each of them specifies exactly one
// claim.
func validateVolumes(volumes []VolumeSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	first := map[string]int{}
	for i, volume := range volumes {
		at := path.Index(i)
		switch earlier, taken := first[volume.MountPath]; {
		case volume.MountPath == "":
			errs = append(errs, field.Required(at.Child("mountPath"), "mountPath is required"))
		case strings.Contains(volume.MountPath, ":"):
			errs = append(errs, field.Invalid(at.Child("mountPath"), volume.MountPath, "must not contain ':'"))
		case taken:
			errs = append(errs, field.Invalid(at.Child("mountPath"), volume.MountPath, fmt.Sprintf("duplicated mountPath: volumes[%d] has the same mountPath", earlier)))
		default:
			first[volume.MountPath] = i
		}
		errs = append(errs, validateClaim(&volume, at)...)
	}
	return errs
}

func validateClaim(volume *VolumeSpec, at *field.Path) field.ErrorList {
	switch {
	case volume.VolumeClaim == nil && volume.VolumeClaimName == "":
		return field.ErrorList{field.Required(at, "either VolumeClaim or VolumeClaimName must be specified")}
	case volume.VolumeClaim != nil && volume.VolumeClaimName != "":
		return field.ErrorList{field.Invalid(at, volume.VolumeClaimName, "conflict: If you want to use an existing PVC, just specify VolumeClaimName."+
			"If you want to create a new PVC, you do not need to specify VolumeClaimName")}
	case volume.VolumeClaimName == "":
		return nil
	}
	var errs field.ErrorList
	for _, text := range validation.IsDNS1123Subdomain(volume.VolumeClaimName) {
		errs = append(errs, field.Invalid(at.Child("volumeClaimName"), volume.VolumeClaimName, text))
	}
	return errs
}
