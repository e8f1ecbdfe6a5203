package main

import (
	"maps"
	"path"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/vc-batch/vc/internal/build"
)

const (
	homePage = "https://github.com/vc-batch/vc"
	// user is the user and the group of the programs, by number, because Kubernetes' runAsNonRoot needs a number.
	user = "65532:65532"
	// searchPath is the environment variable PATH.
	searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// imageSpec describes an image. The image runs its first program.
type imageSpec struct {
	name, description string
	programs          []program
}

// program is a program in an image.
type program struct {
	pkg  string // the package to compile
	path string // the file in the image
}

// imageSpecs lists the images.
var imageSpecs = []imageSpec{
	{"vcd", "Scheduler, controllers and admission of vc, and vc-step, which batch jobs copy into their pods", []program{
		{"./cmd/vcd", "/vcd"},
		{"./cmd/vc-step", "/usr/local/bin/vc-step"},
	}},
	{"vcctl", "The command line of vc", []program{
		{"./cmd/vcctl", "/usr/local/bin/vcctl"},
	}},
}

func imageNames() []string {
	var names []string
	for _, spec := range imageSpecs {
		names = append(names, spec.name)
	}
	return names
}

// reference returns the name of the image with its tag.
func (s imageSpec) reference(version string) string { return build.Registry + s.name + ":" + version }

// annotations describes the image with the standard keys of the OCI.
func (s imageSpec) annotations(o *options) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       s.name,
		"org.opencontainers.image.description": s.description,
		"org.opencontainers.image.version":     o.version,
		"org.opencontainers.image.revision":    o.commit,
		"org.opencontainers.image.created":     o.created.Format(time.RFC3339),
		"org.opencontainers.image.source":      homePage,
		"org.opencontainers.image.licenses":    "Apache-2.0",
	}
}

// newIndex returns the image for all platforms.
func newIndex(o *options, spec imageSpec, files programFiles) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range o.platforms {
		image, err := newImage(o, spec, platform, files)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: plainImage{image}, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return mutate.Annotations(index, spec.annotations(o)).(v1.ImageIndex), nil
}

// plainImage is an image whose entry in an index has no artifact type. By default, the library enters the type of the
// configuration, which is meant for artifacts only.
type plainImage struct{ v1.Image }

// ArtifactType returns no type.
func (plainImage) ArtifactType() (string, error) { return "", nil }

// newImage returns the image for one platform. Its first layer is the same in all images. Each program has a layer of its
// own, so that an update transfers only what has changed.
func newImage(o *options, spec imageSpec, platform v1.Platform, files programFiles) (v1.Image, error) {
	base, err := baseFiles()
	if err != nil {
		return nil, err
	}
	layers := []layerContent{{"users and certificates", base}}
	for i := len(spec.programs) - 1; i >= 0; i-- { // the large program, which comes first, is the last layer
		p := spec.programs[i]
		layers = append(layers, layerContent{path.Base(p.path), []file{{path: p.path, mode: 0o755, from: files[binary{p.pkg, platform.Architecture}]}}})
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, content := range layers {
		layer, err := newLayer(content.files, o.created)
		if err != nil {
			return nil, err
		}
		history := v1.History{Created: v1.Time{Time: o.created}, CreatedBy: "make images", Comment: content.comment}
		if image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: history}); err != nil {
			return nil, err
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = platform.OS, platform.Architecture, v1.Time{Time: o.created}
	config.Config = v1.Config{
		User: user, Entrypoint: []string{spec.programs[0].path}, Env: []string{"PATH=" + searchPath}, WorkingDir: "/",
		Labels: maps.Clone(spec.annotations(o)),
	}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return nil, err
	}
	return mutate.Annotations(image, spec.annotations(o)).(v1.Image), nil
}
