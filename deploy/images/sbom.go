package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"golang.org/x/mod/module"

	"github.com/vc-batch/vc/internal/build"
)

const imageID common.ElementID = "image"

// sbomBuilder collects the packages of an SPDX document. The image contains programs, which depend on Go modules.
type sbomBuilder struct {
	options   *options
	licences  *licenceFinder
	document  *spdx.Document
	described map[common.ElementID]bool // the modules that the document already has
}

// newSBOM returns the list of the contents of an image as an SPDX document. It lists the modules and versions that Go
// recorded in the programs.
func newSBOM(o *options, spec imageSpec, index v1.ImageIndex, files programFiles, licences *licenceFinder) ([]byte, error) {
	digest, err := index.Digest()
	if err != nil {
		return nil, err
	}
	b := &sbomBuilder{options: o, licences: licences, described: map[common.ElementID]bool{}, document: &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName:      spec.reference(o.version),
		DocumentNamespace: fmt.Sprintf("%s/spdx/%s/%s", homePage, spec.name, digest.Hex),
		CreationInfo: &spdx.CreationInfo{
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "vc-images-" + o.version}},
			Created:  o.created.Format(time.RFC3339),
		},
	}}
	if err := b.addImage(spec, digest); err != nil {
		return nil, err
	}
	for _, platform := range o.platforms {
		for _, p := range spec.programs {
			if err := b.addProgram(p, platform, files); err != nil {
				return nil, err
			}
		}
	}
	b.sort()
	var out bytes.Buffer
	if err := json.Write(b.document, &out, json.Indent("  "), json.EscapeHTML(false)); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// addImage adds the image and its base files.
func (b *sbomBuilder) addImage(spec imageSpec, digest v1.Hash) error {
	licence, err := b.licences.ofSource()
	if err != nil {
		return err
	}
	image := newPackage(imageID, build.Registry+spec.name, b.options.version, licence)
	image.PrimaryPackagePurpose = "CONTAINER"
	image.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: digest.Hex}}
	image.PackageExternalReferences = packageURL(fmt.Sprintf("pkg:oci/%s@%s?repository_url=%s&tag=%s", spec.name, strings.Replace(digest.String(), ":", "%3A", 1), build.Registry+spec.name, b.options.version))
	b.document.Packages = append(b.document.Packages, image)
	b.addRelationship("DOCUMENT", "DESCRIBES", imageID)

	certificates, err := publicCertificates()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(certificates)
	roots := newPackage("ca-certificates", "ca-certificates", "", noAssertion)
	roots.PackageFileName = "/etc/ssl/certs/ca-certificates.crt"
	roots.PackageComment = "Mozilla's root certificates, from the Go module golang.org/x/crypto/x509roots/fallback"
	roots.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: hex.EncodeToString(sum[:])}}
	b.document.Packages = append(b.document.Packages, roots)
	b.addRelationship(imageID, "CONTAINS", roots.PackageSPDXIdentifier)
	return nil
}

// addProgram adds a program for one platform, and the modules that it contains.
func (b *sbomBuilder) addProgram(p program, platform v1.Platform, files programFiles) error {
	compiled := binary{p.pkg, platform.Architecture}
	info, err := files.describe(compiled)
	if err != nil {
		return err
	}
	licence, err := b.licences.ofSource()
	if err != nil {
		return err
	}
	sum, err := fileSum(files[compiled])
	if err != nil {
		return err
	}
	name := path.Base(p.path)
	id := common.ElementID(fmt.Sprintf("program-%s-%s-%s", name, platform.OS, platform.Architecture))
	element := newPackage(id, name, b.options.version, licence)
	element.PackageFileName = p.path
	element.PackageComment = "platform " + platform.String()
	element.PrimaryPackagePurpose = "APPLICATION"
	element.PackageChecksums = []common.Checksum{{Algorithm: common.SHA256, Value: sum}}
	b.document.Packages = append(b.document.Packages, element)
	b.addRelationship(imageID, "CONTAINS", id)
	if err := b.addGo(id, info.GoVersion); err != nil {
		return err
	}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		if err := b.addModule(id, *dep); err != nil {
			return err
		}
	}
	return nil
}

// addGo adds Go's standard library.
func (b *sbomBuilder) addGo(program common.ElementID, version string) error {
	licence, err := b.licences.ofGo()
	if err != nil {
		return err
	}
	version, _, _ = strings.Cut(version, " ") // without the names of experiments
	std := newPackage("go-std", "std", version, licence)
	std.PackageDownloadLocation = "https://go.dev/dl/" + version + ".src.tar.gz"
	std.PackageExternalReferences = packageURL("pkg:golang/stdlib@" + strings.TrimPrefix(version, "go"))
	b.addDependency(program, std)
	return nil
}

// addModule adds a Go module.
func (b *sbomBuilder) addModule(program common.ElementID, m debug.Module) error {
	licence, err := b.licences.ofModule(m)
	if err != nil {
		return err
	}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	element := newPackage("go-"+elementID(m.Path+"-"+m.Version), m.Path, m.Version, licence)
	element.PrimaryPackagePurpose = "LIBRARY"
	element.PackageDownloadLocation = fmt.Sprintf("https://proxy.golang.org/%s/@v/%s.zip", escaped, m.Version)
	element.PackageExternalReferences = packageURL("pkg:golang/" + m.Path + "@" + strings.ReplaceAll(m.Version, "+", "%2B"))
	if m.Sum != "" {
		element.PackageComment = "checksum in go.sum: " + m.Sum
	}
	b.addDependency(program, element)
	return nil
}

// addDependency adds a package that a program contains, unless the document already has it.
func (b *sbomBuilder) addDependency(program common.ElementID, element *spdx.Package) {
	id := element.PackageSPDXIdentifier
	if !b.described[id] {
		b.described[id] = true
		b.document.Packages = append(b.document.Packages, element)
	}
	b.addRelationship(program, "DEPENDS_ON", id)
}

func (b *sbomBuilder) addRelationship(from common.ElementID, relationship string, to common.ElementID) {
	b.document.Relationships = append(b.document.Relationships, &spdx.Relationship{
		RefA: common.DocElementID{ElementRefID: from}, Relationship: relationship, RefB: common.DocElementID{ElementRefID: to},
	})
}

// sort sorts packages and relationships by their IDs. The image stays first.
func (b *sbomBuilder) sort() {
	slices.SortStableFunc(b.document.Packages[1:], func(a, b *spdx.Package) int {
		return strings.Compare(string(a.PackageSPDXIdentifier), string(b.PackageSPDXIdentifier))
	})
	slices.SortStableFunc(b.document.Relationships[1:], func(a, b *spdx.Relationship) int {
		return cmp.Or(strings.Compare(string(a.RefA.ElementRefID), string(b.RefA.ElementRefID)), strings.Compare(string(a.RefB.ElementRefID), string(b.RefB.ElementRefID)))
	})
}

func newPackage(id common.ElementID, name, version, licence string) *spdx.Package {
	return &spdx.Package{
		PackageSPDXIdentifier: id, PackageName: name, PackageVersion: version, PackageDownloadLocation: noAssertion,
		PackageLicenseConcluded: noAssertion, PackageLicenseDeclared: licence, PackageCopyrightText: noAssertion,
	}
}

func packageURL(url string) []*spdx.PackageExternalReference {
	return []*spdx.PackageExternalReference{{Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: url}}
}

// notInID matches the characters that an SPDX ID must not have.
var notInID = regexp.MustCompile(`[^0-9A-Za-z.-]`)

func elementID(name string) common.ElementID {
	return common.ElementID(notInID.ReplaceAllString(name, "-"))
}

// fileSum returns the SHA-256 checksum of a file.
func fileSum(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
