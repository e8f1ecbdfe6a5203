package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const (
	sbomType      = "application/spdx+json"
	emptyType     = "application/vnd.oci.empty.v1+json"
	emptyContent  = "{}"
	nameKey       = "io.containerd.image.name"          // containerd reads the name from this annotation
	tagKey        = "org.opencontainers.image.ref.name" // skopeo and podman read the tag from this annotation
	layoutSuffix  = ""
	archiveSuffix = ".tar"
	sbomSuffix    = ".spdx.json"
)

// writeImage writes the layout, the archive and the SBOM of an image to the output directory. It replaces the old ones
// only when all three are complete.
func writeImage(o *options, spec imageSpec, index v1.ImageIndex, sbom []byte) error {
	dir, err := os.MkdirTemp(o.out, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	to := filepath.Join(dir, spec.name)
	if err := writeLayout(to, o, spec, index, sbom); err != nil {
		return err
	}
	if err := writeArchive(to+archiveSuffix, to, o.created); err != nil {
		return err
	}
	if err := os.WriteFile(to+sbomSuffix, sbom, 0o644); err != nil {
		return err
	}
	for _, suffix := range []string{layoutSuffix, archiveSuffix, sbomSuffix} {
		name := spec.name + suffix
		if err := os.RemoveAll(filepath.Join(o.out, name)); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(o.out, name)); err != nil {
			return err
		}
	}
	return nil
}

// writeLayout writes an OCI layout with the image and its SBOM.
func writeLayout(dir string, o *options, spec imageSpec, index v1.ImageIndex, sbom []byte) error {
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	names := layout.WithAnnotations(map[string]string{nameKey: spec.reference(o.version), tagKey: o.version})
	if err := path.AppendIndex(index, names); err != nil {
		return err
	}
	return attachSBOM(path, index, sbom)
}

// attachSBOM adds the SBOM to a layout as an artifact whose subject is the image. A registry lists it among the
// referrers of the image.
func attachSBOM(path layout.Path, index v1.ImageIndex, sbom []byte) error {
	subject, err := partial.Descriptor(index)
	if err != nil {
		return err
	}
	subject.Annotations = nil
	config, err := addBlob(path, emptyType, []byte(emptyContent))
	if err != nil {
		return err
	}
	content, err := addBlob(path, sbomType, sbom)
	if err != nil {
		return err
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: sbomType,
		Config: *config, Layers: []v1.Descriptor{*content}, Subject: subject,
	})
	if err != nil {
		return err
	}
	artifact, err := addBlob(path, types.OCIManifestSchema1, manifest)
	if err != nil {
		return err
	}
	artifact.ArtifactType = sbomType
	return path.AppendDescriptor(*artifact)
}

// addBlob writes content to a layout and returns its descriptor.
func addBlob(path layout.Path, mediaType types.MediaType, content []byte) (*v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if err := path.WriteBlob(digest, io.NopCloser(bytes.NewReader(content))); err != nil {
		return nil, err
	}
	return &v1.Descriptor{MediaType: mediaType, Size: size, Digest: digest}, nil
}

// writeArchive writes the files below dir to a tar archive, which containerd and other engines import.
func writeArchive(archive, dir string, modified time.Time) error {
	var files []file
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f := file{path: "/" + filepath.ToSlash(name), mode: 0o644, from: path}
		if entry.IsDir() {
			f = file{path: f.path, mode: 0o755, dir: true}
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	out, err := os.Create(archive)
	if err != nil {
		return err
	}
	if err := writeTar(out, files, modified); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

// printImage prints the name, the digest and the sizes of an image.
func printImage(out io.Writer, o *options, spec imageSpec, index v1.ImageIndex) error {
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	var sizes []string
	for _, descriptor := range manifest.Manifests {
		image, err := index.Image(descriptor.Digest)
		if err != nil {
			return err
		}
		layers, err := image.Layers()
		if err != nil {
			return err
		}
		var bytes int64
		for _, layer := range layers {
			size, err := layer.Size()
			if err != nil {
				return err
			}
			bytes += size
		}
		sizes = append(sizes, fmt.Sprintf("%s %.1f MiB", descriptor.Platform, float64(bytes)/(1<<20)))
	}
	_, err = fmt.Fprintf(out, "%s@%s  %s\n", spec.reference(o.version), digest, strings.Join(sizes, ", "))
	return err
}
