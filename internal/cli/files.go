package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/resource"

	"github.com/vc-batch/vc/internal/usererror"
)

// Files holds -f, --recursive and -k, which specify files, directories, URLs, standard input, or a kustomization.
type Files struct {
	Names     []string
	Recursive bool
	// Kustomization is the directory or URL given by -k.
	Kustomization string
}

// AddFlags adds -f, -R, -k and their long names.
func (s *Files) AddFlags(f *Factory, cmd *cobra.Command) {
	s.AddSourceFlags(f, cmd)
	cmd.Flags().BoolVarP(&s.Recursive, "recursive", "R", false, "Recurse into subdirectories")
	RequireAny(cmd, "the flag applies only to directories specified with -f", "recursive", "filename", "file")
}

// AddSourceFlags adds -f and -k.
func (s *Files) AddSourceFlags(f *Factory, cmd *cobra.Command) {
	cmd.Flags().StringSliceVarP(&s.Names, "filename", "f", nil, "File, directory or URL with YAML or JSON; - means standard input; can be repeated")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json")
	s.addKustomizeFlag(f, cmd)
}

// DescribeSources returns the names of the files, for use in messages.
func (s *Files) DescribeSources() string {
	if s.Kustomization != "" {
		return s.Kustomization
	}
	names := slices.Clone(s.Names)
	for i, name := range names {
		if name == "-" {
			names[i] = standardInput
		}
	}
	return strings.Join(names, ", ")
}

// HasSources reports whether the user has specified a file or a kustomization.
func (s *Files) HasSources() bool { return len(s.Names) > 0 || s.Kustomization != "" }

// FlagName returns the flag that specified the files, for messages.
func (s *Files) FlagName() string {
	if s.Kustomization != "" {
		return "-k"
	}
	return "-f"
}

// FileObject is an object together with its source.
type FileObject struct {
	Object *unstructured.Unstructured
	// Source is the file, the URL, or "standard input".
	Source string
	// Flags maps prefixes of field paths to the flags that set the fields. It is set only for objects that were
	// created from flags.
	Flags map[string]string
	// text is the content of standard input, if the object was read from there.
	text []byte
}

// standardInput is the source name of -.
const standardInput = "standard input"

// ReadObjects reads all objects from all files, in order. It sends nothing to the cluster.
func (s *Files) ReadObjects(f *Factory) ([]FileObject, error) {
	var problems []error
	for _, name := range s.Names {
		if isURL(name) || name == "-" {
			continue
		}
		if _, err := os.Stat(name); err != nil && !strings.ContainsAny(name, "*?[") {
			problems = append(problems, usererror.Errorf(suggestFile(name, fileUsage), "file %q: %v", name, errors.Unwrap(err)))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if s.Kustomization != "" {
		return s.readKustomization(f)
	}
	builder := f.Builder().Unstructured().Local().ContinueOnError().Flatten()
	var stdin []byte
	if files := slices.DeleteFunc(slices.Clone(s.Names), func(name string) bool { return name == "-" }); len(files) > 0 {
		builder = builder.FilenameParam(false, &resource.FilenameOptions{Filenames: files, Recursive: s.Recursive})
	}
	if slices.Contains(s.Names, "-") {
		var err error
		if stdin, err = f.Streams.ReadAll(); err != nil {
			if errors.Is(err, context.Canceled) {
				return nil, err
			}
			return nil, usererror.Errorf("specify the file with -f FILE", "%s: %v", standardInput, err)
		}
		builder = builder.Stream(bytes.NewReader(stdin), standardInput)
	}
	if len(bytes.TrimSpace(stdin)) == 0 && len(s.Names) == 1 && s.Names[0] == "-" {
		return nil, usererror.Errorf("check the command before the pipe; -f - requires YAML or JSON as input", "%s is empty", standardInput)
	}
	infos, err := builder.Do().Infos()
	if err != nil {
		return nil, convertFileError(err)
	}
	if len(infos) == 0 {
		return nil, usererror.Errorf("a file must contain YAML or JSON; in a directory, only .yaml, .yml and .json files are read", "no objects in %s", s.DescribeSources())
	}
	return fileObjects(infos, stdin)
}

// fileObjects converts the builder's results to FileObjects in the same order. stdin is the text that was read from
// standard input.
func fileObjects(infos []*resource.Info, stdin []byte) ([]FileObject, error) {
	objects := make([]FileObject, 0, len(infos))
	for _, info := range infos {
		object, ok := info.Object.(*unstructured.Unstructured)
		if !ok {
			return nil, usererror.Errorf("an object must have apiVersion, kind and metadata", "%s: %T is not an object", info.Source, info.Object)
		}
		one := FileObject{Object: object, Source: info.Source}
		if one.Source == standardInput {
			one.text = stdin
		}
		objects = append(objects, one)
	}
	return objects, nil
}

// fileUsage is the hint that describes the values of -f.
const fileUsage = "-f takes a file, a directory, a URL, or - for standard input"

// suggestFile returns a hint for a file that cannot be read. It suggests a file with a similar name; if none exists,
// it returns the usage of the flag.
func suggestFile(name, usage string) string {
	directory, base := filepath.Split(name)
	entries, err := os.ReadDir(filepath.Clean(directory))
	if err != nil {
		return fmt.Sprintf("the directory %q does not exist either; relative paths are resolved from the current directory", filepath.Clean(directory))
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	if near := FindNearest(base, names); near != "" {
		return fmt.Sprintf("did you mean %q?", directory+near)
	}
	return usage
}

func isURL(name string) bool {
	return strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://")
}

// notText matches the decoder's message about an annotation or label whose value is not a string.
var notText = regexp.MustCompile(`cannot unmarshal (\w+) into Go struct field \S*metadata\.(annotations|labels) of type string`)

// convertFileError converts the builder's aggregate error to joined errors with hints.
func convertFileError(err error) error {
	list, ok := err.(interface{ Errors() []error })
	if !ok {
		hint := "check that the input is valid YAML or JSON with apiVersion and kind"
		var request *url.Error
		if errors.As(err, &request) {
			hint = "check the URL, and check that its server responds"
		}
		if strings.Contains(err.Error(), "recognized file extensions are") {
			hint = "in a directory, only .yaml, .yml and .json files are read; -R (--recursive) includes subdirectories"
		}
		if found := notText.FindStringSubmatch(err.Error()); found != nil {
			hint = fmt.Sprintf(`values of %s must be strings: put a %s in quotes, for example "2" or "true"`, found[2], found[1])
		}
		return usererror.Errorf(hint, "%v", err)
	}
	var problems []error
	for _, one := range list.Errors() {
		problems = append(problems, convertFileError(one))
	}
	return errors.Join(problems...)
}

// AddFileSource adds the object's source to an error.
func AddFileSource(err error, object FileObject) error { return AddFilePosition(err, object, "") }

// AddFilePosition adds the position of the field to an error about that field.
func AddFilePosition(err error, object FileObject, field string) error {
	if err == nil || object.Source == "" {
		return err
	}
	human := *HumanizeError(err, Connection{})
	human.At = object.Source
	text, readErr := object.text, error(nil)
	if text == nil {
		text, readErr = os.ReadFile(object.Source)
	}
	if readErr == nil {
		if line := FindFieldLine(text, object.Object.GetKind(), object.Object.GetName(), field); line > 0 {
			human.At += fmt.Sprintf(":%d", line)
		}
	}
	if name := object.Object.GetName(); name != "" {
		human.At += fmt.Sprintf(" (%s %q)", strings.ToLower(object.Object.GetKind()), name)
	}
	human.Err = err
	return &human
}

// SetNamespaces sets the namespace of every namespaced object that has no namespace to the command's namespace. It
// returns an error for objects whose namespace differs from the -n flag. If ask is true, SetNamespaces looks up unknown
// kinds on the cluster.
func SetNamespaces(f *Factory, objects []FileObject, ask bool) error {
	namespace, err := f.Namespace()
	if err != nil {
		return err
	}
	known, mapper := knownKinds(), f.Mapper()
	var problems []error
	for _, object := range objects {
		gvk := object.Object.GroupVersionKind()
		mapping, err := known.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil && ask {
			mapping, err = mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		}
		if err != nil {
			if ask || isUndefinedKind(gvk) {
				problems = append(problems, AddFileSource(err, object))
			}
			continue
		}
		if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
			continue
		}
		switch own := object.Object.GetNamespace(); {
		case own == "":
			object.Object.SetNamespace(namespace)
		case f.NamespaceGiven() && own != namespace:
			source := "-n"
			if f.Streams.Env("VCCTL_NAMESPACE") == namespace {
				source = "VCCTL_NAMESPACE"
			}
			problems = append(problems, AddFileSource(usererror.Errorf("remove "+source+", or remove the namespace from the file",
				"the namespace of the object is %q, but %s specifies %q", own, source, namespace), object))
		}
	}
	return errors.Join(problems...)
}
