package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"sigs.k8s.io/yaml"
)

// krewPlugin contains the fields of a krew manifest that krew reads at installation.
type krewPlugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string `json:"version"`
		Homepage         string `json:"homepage"`
		ShortDescription string `json:"shortDescription"`
		Description      string `json:"description"`
		Caveats          string `json:"caveats"`
		Platforms        []struct {
			URI      string `json:"uri"`
			SHA256   string `json:"sha256"`
			Bin      string `json:"bin"`
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
			Files []struct {
				From string `json:"from"`
				To   string `json:"to"`
			} `json:"files"`
		} `json:"platforms"`
	} `json:"spec"`
}

// checkKrew checks a manifest against the rules of krew and its index.
func checkKrew(t *testing.T, text []byte, platforms int) {
	t.Helper()
	var p krewPlugin
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	must := func(ok bool, what string) {
		if !ok {
			t.Errorf("%s:\n%s", what, text)
		}
	}
	must(p.APIVersion == "krew.googlecontainertools.github.com/v1alpha2" && p.Kind == "Plugin", "apiVersion or kind is not krew's")
	must(regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(p.Metadata.Name) && !strings.HasPrefix(p.Metadata.Name, "kube"), "the name is not one of lower case letters, digits and dashes")
	must(regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(p.Spec.Version), "the version is not vMAJOR.MINOR.PATCH")
	must(p.Spec.ShortDescription != "" && len(p.Spec.ShortDescription) <= 50 && !strings.ContainsAny(p.Spec.ShortDescription, "\r\n"), "the short description is empty, or longer than a line of 50")
	must(p.Spec.Description != "" && strings.HasPrefix(p.Spec.Homepage, "https://"), "there is no description or no home page")
	must(len(p.Spec.Platforms) == platforms, "it is not for as many platforms as there are archives")
	seen := map[string]bool{}
	for _, one := range p.Spec.Platforms {
		where := one.Selector.MatchLabels["os"] + "/" + one.Selector.MatchLabels["arch"]
		must(len(one.Selector.MatchLabels) == 2 && !seen[where] && len(where) > 4, "platforms are not told apart by os and arch")
		seen[where] = true
		must(strings.HasPrefix(one.URI, "https://") && strings.HasSuffix(one.URI, ".tar.gz") && strings.Contains(one.URI, "/"+p.Spec.Version+"/"), "the address is no archive of this version")
		must(strings.HasSuffix(one.URI, "_"+strings.ReplaceAll(where, "/", "_")+".tar.gz"), "the address is of another platform")
		must(regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(one.SHA256), "the checksum is none")
		must(strings.HasSuffix(one.Bin, ".exe") == strings.HasPrefix(where, "windows/"), "bin has another system's suffix")
		from := map[string]bool{}
		for _, file := range one.Files {
			must(file.From != "" && file.To != "" && !strings.Contains(file.From, "..") && !strings.Contains(file.To, ".."), "files lead out of the archive")
			from[file.From] = true
		}
		must(from[one.Bin] && from["LICENSE"], "bin or the licence is not among the files")
	}
}

// TestKrewManifestIsWhatKrewTakes fills in the manifest's template like krew's release bot.
func TestKrewManifestIsWhatKrewTakes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("krew.yaml")
	if err != nil {
		t.Fatal(err)
	}
	render, err := template.New("krew").Funcs(template.FuncMap{"addURIAndSha": func(uri, tag string) string {
		return "uri: " + strings.ReplaceAll(uri, "{{ .TagName }}", tag) + "\n    sha256: " + strings.Repeat("0a", 32)
	}}).Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var manifest bytes.Buffer
	if err := render.Execute(&manifest, map[string]string{"TagName": "v1.2.3"}); err != nil {
		t.Fatal(err)
	}
	checkKrew(t, manifest.Bytes(), 5)
}

// TestKrewScriptFillsTheManifestIn runs hack/krew.sh, which fills in the template for the archives that it creates; a
// fake go command only pretends to build.
func TestKrewScriptFillsTheManifestIn(t *testing.T) {
	t.Parallel()
	bin, out := t.TempDir(), t.TempDir()
	pretend := "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\necho program >\"$2\"\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(pretend), 0o755); err != nil {
		t.Fatal(err)
	}
	script := exec.CommandContext(t.Context(), filepath.Join("..", "hack", "krew.sh"), "v1.2.3", out, "linux/amd64", "windows/amd64")
	script.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if text, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	manifest, err := os.ReadFile(filepath.Join(out, "volcano.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	checkKrew(t, manifest, 2)
	listed, err := exec.CommandContext(t.Context(), "tar", "-tzf", filepath.Join(out, "kubectl-vc_windows_amd64.tar.gz")).Output()
	if err != nil || string(listed) != "kubectl-vc.exe\nLICENSE\n" {
		t.Errorf("%v: the archive holds %q", err, listed)
	}
}
