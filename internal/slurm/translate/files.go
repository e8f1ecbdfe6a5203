package translate

import (
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/usererror"
)

// files sets the working directory of the script and its input and output files.
func (b *builder) files() {
	r := b.r
	b.spec.SubmitDir, b.spec.SubmitHost, b.spec.Append = b.Dir, b.Host, r.Append
	b.by("open-mode", "launch.append")
	dir := b.workDir()
	b.asked.WorkDir = dir
	if b.Interactive {
		return
	}
	output := r.Output
	switch {
	case output != "":
	case r.Array != nil:
		output = "slurm-%A_%a.out"
	default:
		output = "slurm-%j.out"
	}
	b.asked.StdOut = absolute(dir, output)
	b.asked.StdErr, b.asked.StdIn = b.asked.StdOut, "/dev/null"
	b.spec.Output = b.file("output", dir, output)
	if r.Error != "" {
		b.asked.StdErr = absolute(dir, r.Error)
		b.spec.Error = b.file("error", dir, r.Error)
	}
	if r.Input != "" {
		b.asked.StdIn = absolute(dir, r.Input)
		b.spec.Input = b.file("input", dir, r.Input)
	}
}

// workDir returns the script's working directory as a path on the submitting machine. For the launcher, it sets the
// corresponding path in the pod.
func (b *builder) workDir() string {
	r := b.r
	dir := b.Dir
	if r.Chdir != "" {
		dir = absolute(b.Dir, r.Chdir)
	}
	_, inside, covered := b.p.Covering(dir)
	switch {
	case r.ContainerWorkdir != "":
		b.spec.WorkDir = r.ContainerWorkdir
	case covered:
		b.spec.WorkDir = inside
		if r.Chdir != "" {
			b.needs = append(b.needs, Need{r.Said("chdir"), dir})
		}
	case r.Chdir != "":
		b.fail(usererror.Errorf("directories on volumes: "+b.covered()+"; use --container-workdir for a directory of the image", "--chdir=%s is not on a volume of the site's profile", r.Chdir))
	}
	b.by("chdir", "launch.workDir")
	b.by("container-workdir", "launch.workDir")
	return dir
}

// covered lists the directories that are available on volumes.
func (b *builder) covered() string {
	var all []string
	for _, v := range b.p.Volumes {
		if len(v.Paths) == 0 {
			all = append(all, v.MountPath)
		}
		all = append(all, v.Paths...)
	}
	if len(all) == 0 {
		return "none"
	}
	return join(all)
}

func absolute(dir, file string) string {
	if strings.HasPrefix(file, `\`) { // the prefix disables patterns
		return `\` + absolute(dir, strings.TrimPrefix(file, `\`))
	}
	if filepath.IsAbs(file) || dir == "" {
		return filepath.Clean(file)
	}
	return filepath.Join(dir, file)
}

// file returns the path of a file in the pod, for the launcher. If no volume contains the file, it returns "" and
// adds a note, a warning or an error.
func (b *builder) file(option, dir, pattern string) string {
	element := 0
	if b.r.Array == nil {
		element = -1
	}
	if _, err := (launchconfig.Names{ArrayIndex: element}).Expand(pattern); err != nil {
		b.fail(usererror.Errorf(err.Error(), "Invalid --%s specification", option))
		return ""
	}
	full := absolute(dir, pattern)
	plain := strings.TrimPrefix(full, `\`)
	b.by(option, "launch."+option)
	if strings.HasPrefix(plain, "/dev/") {
		return full
	}
	fixed, _, _ := strings.Cut(plain, "%")
	v, inside, covered := b.p.Covering(filepath.Dir(fixed + "x"))
	switch {
	case covered && (option == "input" || !v.ReadOnly):
		need := Need{b.r.Said(option), filepath.Dir(fixed + "x")}
		if option == "input" && fixed == plain {
			need.Path = plain
		}
		if need.Option != "" && need.Path != dir {
			b.needs = append(b.needs, need)
		}
		rest := strings.TrimPrefix(strings.TrimPrefix(plain, filepath.Dir(fixed+"x")), "/")
		return full[:len(full)-len(plain)] + filepath.Join(inside, rest)
	case option == "input":
		b.fail(usererror.Errorf("directories on volumes: "+b.covered(), "--input=%s is not on a volume of the site's profile", pattern))
	case option == "output":
		b.notes = append(b.notes, Note{OutputInPodLog, "no shared volume covers " + filepath.Dir(plain) + "; output is in the pod log"})
	default:
		b.warnings = append(b.warnings, "--"+option+"="+pattern+": no shared volume covers "+filepath.Dir(plain)+"; its content is in the pod log")
	}
	return ""
}

// home removes the volume with the home directory if --no-container-mount-home requests this.
func (b *builder) home() {
	home := launchconfig.Value(b.Environ, "HOME")
	if !b.r.NoHome || home == "" {
		return
	}
	v, _, covered := b.p.Covering(home)
	if !covered {
		b.note("--no-container-mount-home: no volume of the site's profile covers " + home + ", so it is not mounted in any case")
		return
	}
	without := *b.p
	without.Volumes = slices.DeleteFunc(slices.Clone(b.p.Volumes), func(other profile.Volume) bool { return other.Name == v.Name })
	b.p = &without
	b.made["no-container-mount-home"] = []string{container("volumeMounts")}
	if b.Facts.Helper {
		b.note("--no-container-mount-home: a process node shows the machine's own " + home + "; files written there are lost")
	}
}

// image returns the image for the container.
func (b *builder) image() string {
	image := b.r.Image
	if image == "" {
		image = b.p.DefaultImage
	}
	if image == "" && b.Facts.Helper {
		return processImage
	}
	if image == "" {
		b.fail(b.noImage())
	}
	if strings.HasSuffix(image, ".sqsh") || strings.HasPrefix(image, "/") {
		b.fail(usererror.Errorf("push the image to a registry, and specify it as registry/name:tag", "--container-image=%s: squashfs files cannot be run here", image))
	}
	return strings.Replace(strings.TrimPrefix(image, "docker://"), "#", "/", 1)
}

// noImage returns the error for a job without an image. The profile may specify a default image, but the user may not
// be allowed to read the profile; the hint takes this into account.
func (b *builder) noImage() error {
	if where := b.Facts.HiddenProfile; where != "" {
		return usererror.Errorf("specify --container-image, or ask an administrator for permission to get ConfigMap slurm-profile in namespace "+where,
			"no image is specified, and you are not allowed to read the site's profile in namespace %s, which may specify one", where)
	}
	return usererror.Errorf("specify --container-image or SBATCH_CONTAINER_IMAGE, or set defaultImage in ConfigMap slurm-profile", "no image is specified, and the site's profile has no default image")
}

// processImage is the image name that is used on nodes that run the machine's own programs and ignore images.
const processImage = "this-machine"

// defaultTools is the default image that contains vc-step.
const defaultTools = "ghcr.io/vc-batch/vcd:latest"

func (b *builder) toolsImage() string {
	if b.p.ToolsImage != "" {
		return b.p.ToolsImage
	}
	return defaultTools
}

// mounts adds the profile's volumes and the mounts requested by --container-mounts, which mount directories of these
// volumes at other paths.
func (b *builder) mounts() {
	type extra struct{ source, target, mode string }
	var extras []extra
	for word := range strings.SplitSeq(b.r.Mounts, ",") {
		if word == "" {
			continue
		}
		parts := strings.Split(word, ":")
		e := extra{source: parts[0], target: parts[0]}
		if len(parts) > 1 {
			e.target = parts[1]
		}
		if len(parts) > 2 {
			e.mode = parts[2]
		}
		if !filepath.IsAbs(e.source) || !filepath.IsAbs(e.target) || len(parts) > 3 || e.mode != "" && e.mode != "ro" && e.mode != "rw" {
			b.fail(usererror.Errorf("use a comma-separated list of SOURCE:TARGET or SOURCE:TARGET:ro with absolute paths", "Invalid --container-mounts specification"))
			continue
		}
		if _, _, ok := b.p.Covering(e.source); !ok {
			b.fail(usererror.Errorf("directories on volumes: "+b.covered(), "--container-mounts: %s is not on a volume of the site's profile", e.source))
			continue
		}
		extras = append(extras, e)
	}
	b.each(func(pod *corev1.PodSpec) {
		main := &pod.Containers[0]
		for i := range b.p.Volumes {
			v := &b.p.Volumes[i]
			pod.Volumes = append(pod.Volumes, corev1.Volume{Name: v.Name, VolumeSource: *v.VolumeSource.DeepCopy()})
			main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: v.Name, MountPath: v.MountPath, ReadOnly: v.ReadOnly})
		}
		for _, e := range extras {
			v, inside, _ := b.p.Covering(e.source)
			sub := strings.TrimPrefix(strings.TrimPrefix(inside, v.MountPath), "/")
			main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: v.Name, MountPath: e.target, SubPath: sub, ReadOnly: v.ReadOnly || e.mode == "ro"})
		}
	})
	b.by("container-mounts", b.eachField("containers[0].volumeMounts")...)
}
