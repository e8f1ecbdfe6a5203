package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// imagesFrom returns the sorted names, with tags, of the images that a pod pulls, including the images of volumes and
// init containers. containers is the number of containers, including init containers.
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

// countImages adds the number by to the node count of each image.
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
