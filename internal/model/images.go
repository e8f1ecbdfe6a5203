package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// imagesFrom lists the images that a pod pulls, with tags, sorted: of containers,
// those that start first included, and of volumes. containers is their number
// without the volumes.
func imagesFrom(spec *corev1.PodSpec) (images []string, containers int) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		containers += len(list)
		for i := range list {
			if image := list[i].Image; image != "" {
				images = append(images, normalizeImage(image))
			}
		}
	}
	for i := range spec.Volumes {
		if image := spec.Volumes[i].Image; image != nil {
			images = append(images, normalizeImage(image.Reference))
		}
	}
	slices.Sort(images)
	return images, containers
}

// countImages counts a node in, or out, for each of its images.
func (n *Nodes) countImages(images map[string]int64, by int32) {
	if n.ImageNodes == nil {
		n.ImageNodes = map[string]int32{}
	}
	for name := range images {
		if n.ImageNodes[name] += by; n.ImageNodes[name] == 0 {
			delete(n.ImageNodes, name)
		}
	}
}
