package real

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// image describes an image that a test builds from files of this machine.
type image struct {
	name       string
	entrypoint []string
	// files maps paths in the image to files or directories of this machine.
	files map[string]string
	// links maps symbolic links in the image to their targets.
	links map[string]string
}

// save writes an image as an archive that `ctr images import` reads.
func (i *image) save(file string) error {
	layer, err := i.layer()
	if err != nil {
		return err
	}
	built, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	if built, err = configure(built, v1.Config{Entrypoint: i.entrypoint}); err != nil {
		return err
	}
	tag, err := name.NewTag(i.name)
	if err != nil {
		return err
	}
	return tarball.WriteToFile(file, tag, built)
}

// configure sets the platform of an image, and the configuration of its containers.
func configure(built v1.Image, containers v1.Config) (v1.Image, error) {
	config, err := built.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = containers
	config.Config.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	return mutate.ConfigFile(built, config)
}

// layer returns a layer with the files and links of an image.
func (i *image) layer() (v1.Layer, error) {
	var content bytes.Buffer
	out := tar.NewWriter(&content)
	for target, source := range i.files {
		if err := addTree(out, target, source); err != nil {
			return nil, err
		}
	}
	for link, target := range i.links {
		if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: target, Mode: 0o777}); err != nil {
			return nil, err
		}
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content.Bytes())), nil })
}

// addTree adds a file, or a directory with everything in it, under a path of the archive.
func addTree(out *tar.Writer, target, source string) error {
	return filepath.WalkDir(source, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		return addFile(out, path.Join(target, filepath.ToSlash(relative)), file, entry)
	})
}

func addFile(out *tar.Writer, target, file string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	var link string
	if info.Mode()&fs.ModeSymlink != 0 {
		if link, err = os.Readlink(file); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	header.Name, header.Uid, header.Gid, header.Uname, header.Gname = target, 0, 0, "", ""
	if err := out.WriteHeader(header); err != nil || !info.Mode().IsRegular() {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, in.Close())
}

// appletLinks returns the links by which busybox is called under the names of its programs.
func appletLinks(busybox string) map[string]string {
	output, err := exec.Command(busybox, "--list").Output()
	if err != nil {
		return nil
	}
	links := map[string]string{}
	for _, applet := range strings.Fields(string(output)) {
		links["bin/"+applet] = "busybox"
	}
	delete(links, "bin/busybox")
	return links
}
