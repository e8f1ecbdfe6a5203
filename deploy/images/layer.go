package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// file is a file or a directory in a layer.
type file struct {
	path  string
	mode  int64
	owner int    // the user and the group
	dir   bool   // it is a directory
	data  []byte // the content
	from  string // the file with the content, if data is nil
}

// layerContent is a layer before it is packed.
type layerContent struct {
	comment string
	files   []file
}

const (
	nonroot = 65532

	passwd = `root:x:0:0:root:/root:/sbin/nologin
nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin
`
	group = `root:x:0:
nonroot:x:65532:
`
)

// baseFiles returns the files that all images have: the user's name and home directory, and the certificates of public
// authorities, with which vcd verifies extenders, fabric managers and sources of metrics, and vcctl verifies clusters.
func baseFiles() ([]file, error) {
	certificates, err := publicCertificates()
	if err != nil {
		return nil, err
	}
	return []file{
		{path: "/etc/passwd", mode: 0o644, data: []byte(passwd)},
		{path: "/etc/group", mode: 0o644, data: []byte(group)},
		{path: "/etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: certificates},
		{path: "/home/nonroot", mode: 0o700, owner: nonroot, dir: true},
	}, nil
}

// publicCertificates returns Mozilla's root certificates as PEM. They come from a Go module, so that they do not depend
// on the machine. The file format cannot express constraints, so certificates with constraints are omitted.
func publicCertificates() ([]byte, error) {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

// newLayer packs files and their parent directories as a layer. modified is the modification time of every entry.
func newLayer(files []file, modified time.Time) (v1.Layer, error) {
	files = addDirectories(files)
	open := func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { writer.CloseWithError(writeTar(writer, files, modified)) }()
		return reader, nil
	}
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
}

// addDirectories returns files with all directories above them, sorted by path.
func addDirectories(files []file) []file {
	files = slices.Clone(files)
	for _, f := range files {
		for dir := path.Dir(f.path); dir != "/"; dir = path.Dir(dir) {
			if !slices.ContainsFunc(files, func(other file) bool { return other.path == dir }) {
				files = append(files, file{path: dir, mode: 0o755, dir: true})
			}
		}
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return files
}

// writeTar writes files as a tar archive.
func writeTar(w io.Writer, files []file, modified time.Time) error {
	out := tar.NewWriter(w)
	for _, f := range files {
		if err := f.writeTo(out, modified); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
	}
	return out.Close()
}

// writeTo adds the file to a tar archive.
func (f file) writeTo(out *tar.Writer, modified time.Time) error {
	header := &tar.Header{
		Name: strings.TrimPrefix(f.path, "/"), Mode: f.mode, Uid: f.owner, Gid: f.owner, ModTime: modified,
		Typeflag: tar.TypeReg, Format: tar.FormatUSTAR,
	}
	if f.dir {
		header.Typeflag = tar.TypeDir
		header.Name += "/"
		return out.WriteHeader(header)
	}
	var content io.Reader = bytes.NewReader(f.data)
	header.Size = int64(len(f.data))
	if f.data == nil {
		source, err := os.Open(f.from)
		if err != nil {
			return err
		}
		defer source.Close()
		info, err := source.Stat()
		if err != nil {
			return err
		}
		content, header.Size = source, info.Size()
	}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(out, content)
	return err
}
