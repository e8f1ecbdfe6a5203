package podshape

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// imagesFrom returns the names, sorted and with tags, of the images that a pod pulls, including the images of volumes
// and init containers. count is the number of these containers and volumes, including containers without an image.
func imagesFrom(spec *corev1.PodSpec) (images []string, count int) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		count += len(list)
		for i := range list {
			if image := list[i].Image; image != "" {
				images = append(images, NormalizeImage(image))
			}
		}
	}
	for i := range spec.Volumes {
		if image := spec.Volumes[i].Image; image != nil {
			images = append(images, NormalizeImage(image.Reference))
			count++
		}
	}
	slices.Sort(images)
	return images, count
}

// NormalizeImage adds the tag :latest to an image name without a tag.
func NormalizeImage(name string) string {
	if strings.LastIndexByte(name, ':') <= strings.LastIndexByte(name, '/') {
		return name + ":latest"
	}
	return name
}
