package root_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/golden"
)

// filled replaces the placeholder words by the files of a noun.
func filled(words []string, noun string, files map[string]string) []string {
	all := make([]string, len(words))
	for i, word := range words {
		for _, which := range []string{"FRESH", "THERE", "SHUT", "NEW", "OLD", "OTHER", "UNKNOWN", "CONF", "NEWBUILT", "OLDBUILT"} {
			if before, found := strings.CutSuffix(word, which); found {
				if word = before + files[noun+" "+which]; which == "OTHER" {
					word = before + append(theseAreThere[noun], "", "other")[1]
				}
			}
		}
		all[i] = word
	}
	return all
}

// heededWorld returns the golden cluster and the objects of the examples, with labels.
func heededWorld(t *testing.T) []client.Object {
	world := golden.ClusterObjects()
	for _, object := range objectsOf(t, "examples.yaml") {
		world = append(world, object)
	}
	for _, object := range objectsOf(t, "heeded.yaml") {
		world = append(world, object)
	}
	for _, object := range world {
		if err := cli.SetKind(object); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(world, func(a, b client.Object) int {
		return strings.Compare(fmt.Sprintf("%T %s/%s", a, a.GetNamespace(), a.GetName()), fmt.Sprintf("%T %s/%s", b, b.GetNamespace(), b.GetName()))
	})
	for i, object := range world {
		labels := map[string]string{"turn": fmt.Sprintf("%03d", len(world)-i)} // sorting by this label reverses the order
		maps.Copy(labels, object.GetLabels())
		switch object.GetName() {
		case "train", "eval", "research", "infer", "train-worker-0", "train-worker-1", "night", "serve", "nightly", "other", "n1", "n2", "nlp-lab", "physics":
			labels["team"] = "nlp"
		case "paused", "archive", "held", "shut", "cordoned":
			labels["team"] = "cv"
		}
		object.SetLabels(labels)
		if object.GetName() != "web" { // it is evicted, and a drain would retry forever
			object.SetFinalizers([]string{"vc-batch.dev/test"}) // a deleted object stays for a while
		}
		switch object := object.(type) {
		case *batchv1alpha1.Job:
			if object.Name == "plain" {
				object.Labels["held"] = "yes"
				object.Annotations = map[string]string{keys.Hold: keys.HoldUser}
			}
			if object.Name == "train" {
				object.Labels["who"] = "train"
				object.Spec.Tasks = append(object.Spec.Tasks, *object.Spec.Tasks[0].DeepCopy())
				object.Spec.Tasks[1].Name = "side"
			}
		case *corev1.Pod:
			if object.Labels[keys.JobName] == "train" {
				object.Spec.Containers[0].Stdin = true
				object.Spec.Containers = append(object.Spec.Containers, corev1.Container{Name: "side", Image: "busybox", Stdin: true, TTY: true})
			}
			if object.Name == "train-worker-2" {
				object.Labels[keys.TaskSpec], object.Labels[keys.TaskIndex] = "side", "0"
			}
		}
	}
	for _, object := range world {
		if there, is := object.(*corev1.ConfigMap); is && there.Namespace == "elsewhere" {
			here := there.DeepCopy()
			here.Namespace, here.Data = "volcano-system", map[string]string{keys.ConfigurationSource: "a file", keys.ConfigurationText: here.Data[keys.ConfigurationText]}
			world = append(world, here)
			break
		}
	}
	world = append(world, golden.NewEvent("pod.1", golden.NewPod(golden.NewJob("train", "", "", 0), 0, ""), "Normal", "Pulled", "an image", time.Hour))
	return append(world, filterable()...)
}

// heededFiles writes the files and returns their paths by noun and placeholder.
func heededFiles(t *testing.T, world []client.Object) map[string]string {
	dir := t.TempDir()
	write := func(where string, text []byte) string {
		at := filepath.Join(dir, where)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		return at
	}
	text := func(object client.Object) []byte {
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	files := map[string]string{"config CONF": write("conf", []byte(config.DefaultText))}
	fresh := objectsOf(t, "new.yaml")
	for noun, kind := range kindOf {
		one := fresh[kind+"/new"]
		file := func(where, name string) string {
			object := one.DeepCopyObject().(client.Object)
			object.SetName(name)
			return write(noun+where, text(object))
		}
		files[noun+" FRESH"] = filepath.Dir(file("/fresh/one.yaml", "fresh"))
		file("/fresh/below/two.yaml", "fresher")
		files[noun+" NEW"] = file("/new.yaml", "new")
		build := func(which, file string) {
			resource := filepath.Base(file)
			write(noun+"/"+which+"/"+resource, contents(t, file))
			files[noun+" "+which] = filepath.Dir(write(noun+"/"+which+"/kustomization.yaml", []byte("resources: ["+resource+"]\n")))
		}
		build("NEWBUILT", files[noun+" NEW"])
		unknown := bytes.Replace(text(one), []byte("spec:"), []byte("spec:\n  unknown: 1"), 1)
		files[noun+" UNKNOWN"] = write(noun+"/unknown.yaml", unknown)
		at := func(name string) []byte {
			for _, object := range world {
				if object.GetObjectKind().GroupVersionKind().Kind == kind && object.GetName() == name {
					return text(object)
				}
			}
			t.Fatalf("there is no %s %s", kind, name)
			return nil
		}
		names := theseAreThere[noun]
		if noun == "plan" || noun == "diff" {
			continue
		}
		files[noun+" OLD"] = write(noun+"/there/one.yaml", at(names[0]))
		files[noun+" THERE"] = filepath.Dir(files[noun+" OLD"])
		build("OLDBUILT", files[noun+" OLD"])
		below := "below/two.yaml"
		if len(names) > 2 {
			write(noun+"/there/two.yaml", at(names[1]))
			below = "below/three.yaml"
		}
		write(noun+"/there/"+below, at(names[len(names)-1]))
		if noun == "queue" {
			files["queue SHUT"] = filepath.Dir(write("queue/shut/one.yaml", at("archive")))
			write("queue/shut/below/two.yaml", at("shut"))
		}
	}
	return files
}

// contents returns the contents of a file.
func contents(t *testing.T, file string) []byte {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
