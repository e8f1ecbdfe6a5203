package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/vc-batch/vc/internal/usererror"
)

// addKustomizeFlag adds -k. In Volcano's vcctl, -k specifies the kubeconfig for every command. vcctl still supports
// this: a file after -k is used as the kubeconfig, because a kustomization is a directory.
func (s *Files) addKustomizeFlag(f *Factory, cmd *cobra.Command) {
	cmd.Flags().VarP(&kustomization{files: s, f: f}, "kustomize", "k", "Directory or URL with a kustomization.yaml; its objects are built as in kubectl")
	_ = cmd.MarkFlagDirname("kustomize")
	// This flag replaces the root command's flag with the shorthand -k.
	cmd.Flags().StringVar(f.Config.KubeConfig, "kubeconfig-file", "", "Old spelling of --kubeconfig")
	cmd.Flags().Lookup("kubeconfig-file").Hidden = true
	RejectTogether(cmd, "a kustomization lists its own files", "kustomize", "filename", "file", "recursive")
}

// kustomization is the value of -k.
type kustomization struct {
	files *Files
	f     *Factory
}

// String returns the directory.
func (k *kustomization) String() string {
	if k.files == nil {
		return ""
	}
	return k.files.Kustomization
}

// Type returns the type of the value for help texts.
func (k *kustomization) Type() string { return "directory" }

// Set stores the directory. If name is a regular file that is not a kustomization, Set uses it as the kubeconfig.
func (k *kustomization) Set(name string) error {
	if name == "" {
		return errors.New("the directory name must not be empty")
	}
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && !isKustomizationFile(name) {
		k.f.WarnDeprecated("-k FILE", "--kubeconfig")
		*k.f.Config.KubeConfig = name
		return nil
	}
	k.files.Kustomization = name
	return nil
}

// isKustomizationFile reports whether a file has one of the names that kustomize looks for in a directory.
func isKustomizationFile(name string) bool {
	switch filepath.Base(name) {
	case "kustomization.yaml", "kustomization.yml", "Kustomization":
		return true
	}
	return false
}

// remoteKustomization matches addresses that kustomize fetches with git.
var remoteKustomization = regexp.MustCompile(`://|\?ref=|^git@|^github\.com[/:]`)

// readKustomization builds the objects of the directory specified with -k.
func (s *Files) readKustomization(f *Factory) ([]FileObject, error) {
	name := s.Kustomization
	if err := checkKustomization(name); err != nil {
		return nil, err
	}
	builder := f.Builder().Unstructured().Local().ContinueOnError().Flatten()
	infos, err := builder.FilenameParam(false, &resource.FilenameOptions{Kustomize: name}).Do().Infos()
	if err != nil {
		return nil, kustomizeError(name, err)
	}
	if len(infos) == 0 {
		return nil, usererror.Errorf("list its files under resources: in kustomization.yaml", "no objects in %s", name)
	}
	return fileObjects(infos, nil)
}

// checkKustomization rejects a name that is neither a local directory nor a remote address.
func checkKustomization(name string) error {
	if remoteKustomization.MatchString(name) {
		return nil
	}
	switch info, err := os.Stat(name); {
	case err != nil:
		return usererror.Errorf(suggestKustomization(name), "kustomization %q: %v", name, errors.Unwrap(err))
	case !info.IsDir():
		return usererror.Errorf(fmt.Sprintf("specify the directory that contains the kustomization: -k %s", filepath.Dir(name)), "kustomization %q is a file, not a directory", name)
	}
	return nil
}

// suggestKustomization returns a hint for a directory that cannot be read. It suggests a directory with a similar name,
// if any.
func suggestKustomization(name string) string {
	if name == "-" {
		return "-k takes a directory; -f - reads objects from standard input"
	}
	return suggestFile(strings.TrimSuffix(name, string(filepath.Separator)), "-k takes a directory with a kustomization.yaml, or the URL of one")
}

// noKustomization matches kustomize's error about a directory without a kustomization.
var noKustomization = regexp.MustCompile(`unable to find one of .* in directory '([^']*)'`)

// missingResource matches kustomize's error about a referenced file or directory that does not exist.
var missingResource = regexp.MustCompile(`accumulation err='accumulating resources from '([^']*)': (?:open|evalsymlink failure on) .*no such file or directory`)

// kustomizeError rewords kustomize's error about a kustomization that it cannot build.
func kustomizeError(name string, err error) error {
	text := err.Error()
	if found := missingResource.FindStringSubmatch(text); found != nil {
		return &usererror.Error{What: fmt.Sprintf("kustomization %q: resource %q: no such file or directory", name, found[1]), Hint: "paths under resources: are relative to the directory that contains kustomization.yaml", Err: err}
	}
	if found := noKustomization.FindStringSubmatch(text); found != nil {
		return &usererror.Error{What: fmt.Sprintf("kustomization %q contains no kustomization.yaml", name), Hint: "-k takes a directory that contains a kustomization.yaml; -f reads all files in a directory", Err: err}
	}
	return &usererror.Error{What: fmt.Sprintf("kustomization %q: %s", name, text), Hint: "`kubectl kustomize " + name + "` shows what kustomize builds from it", Err: err}
}
