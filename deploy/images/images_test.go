package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/spdx/tools-golang/json"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"github.com/spdx/tools-golang/spdxlib"
)

// commitTime is the time of the commit in all tests.
var commitTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// helloSource is a small module with one program.
var helloSource = map[string]string{
	"go.mod":            "module example.com/hello\n\ngo 1.26\n",
	"LICENSE":           "no licence that anybody knows\n",
	"cmd/hello/main.go": "package main\n\nimport \"os\"\n\nvar version = \"\"\n\nfunc main() { os.Stdout.WriteString(\"hello \" + version + \"\\n\") }\n",
}

// helloImage is the image of the program.
var helloImage = imageSpec{"hello", "a test", []program{{"./cmd/hello", "/usr/local/bin/hello"}}}

// writeHello writes the module to the directory source, and returns options that build its image.
func writeHello(source, out string) (*options, error) {
	for name, text := range helloSource {
		path := filepath.Join(source, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return &options{
		source: source, out: out, version: "v1.2.3", commit: "0123abcd", ldflag: "-X main.version=v1.2.3", created: commitTime,
		platforms: []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}, images: []imageSpec{helloImage},
	}, nil
}

// helloOptions returns options that build the image in a new directory.
func helloOptions(t *testing.T) *options {
	t.Helper()
	o, err := writeHello(t.TempDir(), filepath.Join(t.TempDir(), "images"))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// sharedDir holds the image of sharedBuild.
var sharedDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "vc-images-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	sharedDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// sharedBuild builds the image once for all tests that only read it.
var sharedBuild = sync.OnceValues(func() (*options, error) {
	o, err := writeHello(filepath.Join(sharedDir, "source"), filepath.Join(sharedDir, "images"))
	if err != nil {
		return nil, err
	}
	return o, buildImages(context.Background(), o, io.Discard, os.Stderr)
})

// mustShare returns the output directory of sharedBuild.
func mustShare(t *testing.T) string {
	t.Helper()
	o, err := sharedBuild()
	if err != nil {
		t.Fatal(err)
	}
	return o.out
}

// mustBuild builds the images and returns what the program printed.
func mustBuild(t *testing.T, o *options) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if err := buildImages(t.Context(), o, &stdout, &stderr); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return stdout.String()
}

// readIndex returns the image in a layout, and the descriptor that the layout has for it.
func readIndex(t *testing.T, dir string) (v1.ImageIndex, v1.Descriptor) {
	t.Helper()
	root, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := root.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, descriptor := range manifest.Manifests {
		if descriptor.MediaType == types.OCIImageIndex {
			index, err := root.ImageIndex(descriptor.Digest)
			if err != nil {
				t.Fatal(err)
			}
			return index, descriptor
		}
	}
	t.Fatal("the layout has no index of images")
	return nil, v1.Descriptor{}
}

// readImage returns the image of one platform.
func readImage(t *testing.T, index v1.ImageIndex, arch string) v1.Image {
	t.Helper()
	manifests, err := partial.FindManifests(index, func(d v1.Descriptor) bool { return d.Platform != nil && d.Platform.Architecture == arch })
	if err != nil || len(manifests) != 1 || manifests[0].ArtifactType != "" {
		t.Fatalf("images for %s: %+v, error %v", arch, manifests, err)
	}
	image, err := index.Image(manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// extract returns the headers of the files in an image, and writes the files below dir.
func extract(t *testing.T, image v1.Image, dir string) map[string]*tar.Header {
	t.Helper()
	contents := mutate.Extract(image)
	defer contents.Close()
	headers := map[string]*tar.Header{}
	for reader := tar.NewReader(contents); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return headers
		}
		if err != nil {
			t.Fatal(err)
		}
		headers["/"+strings.TrimSuffix(header.Name, "/")] = header
		path := filepath.Join(dir, header.Name)
		if header.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o755)
		} else {
			var data []byte
			if data, err = io.ReadAll(reader); err == nil {
				err = os.WriteFile(path, data, header.FileInfo().Mode())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestTwoBuildsGiveTheSameBytes builds the same source in two directories, at two times.
func TestTwoBuildsGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	first, second := mustShare(t), helloOptions(t)
	printed := mustBuild(t, second)
	_, descriptor := readIndex(t, filepath.Join(first, "hello"))
	if want := "ghcr.io/vc-batch/hello:v1.2.3@" + descriptor.Digest.String() + "  linux/amd64 "; !strings.HasPrefix(printed, want) {
		t.Errorf("the first build gives %s, the second one prints %s", want, printed)
	}
	for _, name := range []string{"hello.tar", "hello.spdx.json", "hello/index.json"} {
		a, errA := os.ReadFile(filepath.Join(first, name))
		b, errB := os.ReadFile(filepath.Join(second.out, name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %d and %d bytes (%v, %v)", name, len(a), len(b), errA, errB)
		}
	}
}

func TestImageIsValidAndRunsAsNonroot(t *testing.T) {
	t.Parallel()
	index, descriptor := readIndex(t, filepath.Join(mustShare(t), "hello"))
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	names := map[string]string{"io.containerd.image.name": "ghcr.io/vc-batch/hello:v1.2.3", "org.opencontainers.image.ref.name": "v1.2.3"}
	if diff := cmp.Diff(names, descriptor.Annotations); diff != "" {
		t.Errorf("names in the layout (-want +got):\n%s", diff)
	}
	for _, arch := range []string{"amd64", "arm64"} {
		image := readImage(t, index, arch)
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Architecture != arch || config.OS != "linux" || !config.Created.Equal(commitTime) {
			t.Errorf("%s: the image is for %s/%s, of %s", arch, config.OS, config.Architecture, config.Created)
		}
		if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/usr/local/bin/hello"}) {
			t.Errorf("%s: the image runs %q as %q", arch, config.Config.Entrypoint, config.Config.User)
		}
		checkFiles(t, image)
	}
}

// checkFiles checks that an image contains the expected files only, and that their owners, modes and times are fixed.
func checkFiles(t *testing.T, image v1.Image) {
	t.Helper()
	dir := t.TempDir()
	headers := extract(t, image, dir)
	var names []string
	for name, header := range headers {
		names = append(names, name)
		owner := 0
		if name == "/home/nonroot" {
			owner = 65532
		}
		if header.Uid != owner || header.Gid != owner || header.Uname != "" || header.Mode&0o7022 != 0 || !header.ModTime.Equal(commitTime) {
			t.Errorf("%s: owner %d:%d %q, mode %o, time %s", name, header.Uid, header.Gid, header.Uname, header.Mode, header.ModTime)
		}
	}
	slices.Sort(names)
	want := []string{
		"/etc", "/etc/group", "/etc/passwd", "/etc/ssl", "/etc/ssl/certs", "/etc/ssl/certs/ca-certificates.crt",
		"/home", "/home/nonroot", "/usr", "/usr/local", "/usr/local/bin", "/usr/local/bin/hello",
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	certificates, err := os.ReadFile(filepath.Join(dir, "etc/ssl/certs/ca-certificates.crt"))
	if count := bytes.Count(certificates, []byte("BEGIN CERTIFICATE")); err != nil || count < 50 {
		t.Errorf("the image has %d certificates: %v", count, err)
	}
}

// emulators are the programs of QEMU that run programs of another architecture, by GOARCH.
var emulators = map[string]string{"amd64": "qemu-x86_64-static", "arm64": "qemu-aarch64-static"}

// commandFor returns a command that runs a program for an architecture, with an emulator if this machine has another one.
// It skips the test if the emulator is not installed.
func commandFor(t *testing.T, arch, program string) *exec.Cmd {
	t.Helper()
	if arch == runtime.GOARCH {
		return exec.CommandContext(t.Context(), program)
	}
	emulator, err := exec.LookPath(emulators[arch])
	if err != nil {
		t.Skipf("%s is not installed: apt-get install --no-install-recommends qemu-user-static", emulators[arch])
	}
	return exec.CommandContext(t.Context(), emulator, program)
}

func TestProgramInTheImageRuns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the images are for linux")
	}
	for _, arch := range []string{"amd64", "arm64"} {
		t.Run(arch, func(t *testing.T) {
			index, _ := readIndex(t, filepath.Join(mustShare(t), "hello"))
			dir := t.TempDir()
			extract(t, readImage(t, index, arch), dir)
			out, err := commandFor(t, arch, filepath.Join(dir, "usr/local/bin/hello")).CombinedOutput()
			if string(out) != "hello v1.2.3\n" || err != nil {
				t.Errorf("the program prints %q, error %v", out, err)
			}
		})
	}
}

// TestArchiveHoldsTheLayout compares the archive with the layout. Engines that import an archive need the files at its
// top.
func TestArchiveHoldsTheLayout(t *testing.T) {
	t.Parallel()
	out := mustShare(t)
	in, err := os.Open(filepath.Join(out, "hello.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	archived := map[string]bool{}
	for reader := tar.NewReader(in); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		archived[strings.TrimSuffix(header.Name, "/")] = true
		if header.Typeflag == tar.TypeDir {
			continue
		}
		got, errGot := io.ReadAll(reader)
		want, errWant := os.ReadFile(filepath.Join(out, "hello", header.Name))
		if errGot != nil || errWant != nil || !bytes.Equal(got, want) {
			t.Errorf("%s in the archive is not the file of the layout (%v, %v)", header.Name, errGot, errWant)
		}
	}
	if !archived["oci-layout"] || !archived["index.json"] || len(archived) < 12 {
		t.Errorf("the archive holds %v", archived)
	}
}

// TestSBOMListsTheModulesOfTheProgram builds vc-step, because it has modules whose licences are known.
func TestSBOMListsTheModulesOfTheProgram(t *testing.T) {
	t.Parallel()
	o := helloOptions(t)
	o.source, o.ldflag = filepath.Join("..", ".."), ""
	o.platforms = o.platforms[:1]
	spec := imageSpec{"step", "a test", []program{{"./cmd/vc-step", "/usr/local/bin/vc-step"}}}
	o.images = []imageSpec{spec}
	mustBuild(t, o)

	document := readSBOM(t, filepath.Join(o.out, "step.spdx.json"))
	index, descriptor := readIndex(t, filepath.Join(o.out, "step"))
	packages := map[string]*spdx.Package{}
	for _, p := range document.Packages {
		packages[p.PackageName] = p
	}
	image, step, sys := packages["ghcr.io/vc-batch/step"], packages["vc-step"], packages["golang.org/x/sys"]
	if image == nil || step == nil || sys == nil || packages["std"] == nil {
		t.Fatalf("the image, the program, the module golang.org/x/sys or Go is missing among %d packages", len(packages))
	}
	if image.PackageChecksums[0].Value != descriptor.Digest.Hex {
		t.Errorf("the SBOM is of another image: %s", image.PackageChecksums[0].Value)
	}
	if step.PackageLicenseDeclared != "Apache-2.0" || sys.PackageLicenseDeclared != "BSD-3-Clause" || packages["std"].PackageLicenseDeclared != "BSD-3-Clause" {
		t.Errorf("licences: vc-step %s, golang.org/x/sys %s, Go %s", step.PackageLicenseDeclared, sys.PackageLicenseDeclared, packages["std"].PackageLicenseDeclared)
	}
	if want := "pkg:golang/golang.org/x/sys@" + sys.PackageVersion; sys.PackageExternalReferences[0].Locator != want {
		t.Errorf("the package URL is %s, not %s", sys.PackageExternalReferences[0].Locator, want)
	}
	dir := t.TempDir()
	extract(t, readImage(t, index, "amd64"), dir)
	sum, err := fileSum(filepath.Join(dir, "usr/local/bin/vc-step"))
	if err != nil || step.PackageChecksums[0].Value != sum {
		t.Errorf("the checksum of vc-step is %s, not %s (%v)", step.PackageChecksums[0].Value, sum, err)
	}
}

// readSBOM reads an SPDX document and checks what the format demands.
func readSBOM(t *testing.T, path string) *spdx.Document {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	document, err := json.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := spdxlib.ValidateDocument(document); err != nil {
		t.Error(err)
	}
	described, err := spdxlib.GetDescribedPackageIDs(document)
	if err != nil || len(described) != 1 || described[0] != imageID {
		t.Errorf("the document describes %v: %v", described, err)
	}
	if document.SPDXVersion != "SPDX-2.3" || document.DataLicense != "CC0-1.0" || document.CreationInfo.Created != "2026-03-01T12:00:00Z" {
		t.Errorf("version %s, licence %s, created %s", document.SPDXVersion, document.DataLicense, document.CreationInfo.Created)
	}
	seen := map[string]bool{}
	for _, p := range document.Packages {
		id := string(p.PackageSPDXIdentifier)
		if seen[id] || notInID.MatchString(id) {
			t.Errorf("the ID %q is invalid or appears twice", id)
		}
		seen[id] = true
		if p.PackageName == "" || p.PackageDownloadLocation == "" || p.PackageLicenseDeclared == "" || p.FilesAnalyzed {
			t.Errorf("%s has an empty field, or says that its files were analysed: %+v", id, p)
		}
	}
	return document
}

// TestSBOMIsAReferrerOfTheImage follows the reference as a registry does.
func TestSBOMIsAReferrerOfTheImage(t *testing.T) {
	t.Parallel()
	out := mustShare(t)
	_, descriptor := readIndex(t, filepath.Join(out, "hello"))
	root, err := layout.ImageIndexFromPath(filepath.Join(out, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	found, err := partial.FindImages(root, func(d v1.Descriptor) bool { return d.ArtifactType == "application/spdx+json" })
	if err != nil || len(found) != 1 {
		t.Fatalf("%d SBOMs in the layout: %v", len(found), err)
	}
	manifest, err := found[0].Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Subject == nil || manifest.Subject.Digest != descriptor.Digest || manifest.ArtifactType != "application/spdx+json" {
		t.Errorf("the manifest refers to %+v as %q", manifest.Subject, manifest.ArtifactType)
	}
	attached, err := layout.Path(filepath.Join(out, "hello")).Bytes(manifest.Layers[0].Digest)
	beside, errBeside := os.ReadFile(filepath.Join(out, "hello.spdx.json"))
	if err != nil || errBeside != nil || !bytes.Equal(attached, beside) {
		t.Errorf("the attached SBOM is not the one beside the layout (%v, %v)", err, errBeside)
	}
}

func TestFailedBuildLeavesTheOldImage(t *testing.T) {
	t.Parallel()
	o := helloOptions(t)
	mustBuild(t, o)
	before := tree(t, o.out)
	if err := os.WriteFile(filepath.Join(o.source, "cmd/hello/main.go"), []byte("package main\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	if err := buildImages(t.Context(), o, io.Discard, &stderr); err == nil || !strings.Contains(err.Error(), "go build for linux/amd64") {
		t.Errorf("error %v\n%s", err, &stderr)
	}
	if diff := cmp.Diff(before, tree(t, o.out)); diff != "" {
		t.Errorf("the output directory changed (-before +after):\n%s", diff)
	}
}

// tree returns the paths and sizes of all files below dir.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		files = append(files, fmt.Sprintf("%s %d", path, info.Size()))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestWrongCommandLineIsAnswered(t *testing.T) {
	t.Parallel()
	created := []string{"-created", "2026-03-01T12:00:00Z"}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no time":               {[]string{"-version", "v0.1.0-rc.1"}, "error: -created \"\" is not a time\nhint:  build in a git repository"},
		"no version":            {created, "error: -version \"\" is not a valid tag of an image\nhint:  use letters"},
		"version with a plus":   {append(created, "-version", "v1.2.3+dirty"), "error: -version \"v1.2.3+dirty\" is not a valid tag"},
		"another release":       {append(created, "-version", "v98.7.6"), "but deploy/install.yaml installs ghcr.io/vc-batch/vcd:v"},
		"unknown image":         {append(created, "-version", "dev", "vcx"), "error: unknown image \"vcx\"\nhint:  the images are vcd, vcctl\n"},
		"unknown platform":      {append(created, "-version", "dev", "-platforms", "linux/amd64,windows/amd64"), "error: -platforms: unknown platform \"windows/amd64\"\nhint:  use linux/amd64"},
		"platform that repeats": {append(created, "-version", "dev", "-platforms", "linux/arm64,linux/arm64"), "error: -platforms: linux/arm64 is given twice\n"},
		"unknown flag":          {[]string{"-vresion", "dev"}, "error: flag provided but not defined: -vresion"},
	} {
		out := filepath.Join(t.TempDir(), "images")
		var stdout, stderr bytes.Buffer
		if code := run(context.Background(), append([]string{"-out", out}, c.args...), &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: exit code %d\n%s\nwant %q", name, code, &stderr, c.want)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the output directory exists: %v", name, err)
		}
	}
}

func TestHelpListsImagesAndFlags(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), []string{"-help"}, &stdout, &stderr)
	if code != 0 || !strings.Contains(stderr.String(), "vcd, vcctl") || !strings.Contains(stderr.String(), "-platforms") {
		t.Errorf("exit code %d\n%s", code, &stderr)
	}
}
