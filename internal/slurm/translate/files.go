package translate

import (
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/build"
	"github.com/vc-batch/vc/internal/slurm/launchconfig"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/usererror"
)

// setFiles sets the working directory of the script and its input and output files.
func (b *topic) setFiles() {
	r := b.r
	b.launch.SubmitDir, b.launch.SubmitHost, b.launch.Append = b.Dir, b.Host, r.Append
	b.recordFields("open-mode", "launch.append")
	dir := b.workingDirectory()
	b.stored.WorkDir = dir
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
	b.stored.StdOut = absolutePath(dir, output)
	b.stored.StdErr, b.stored.StdIn = b.stored.StdOut, "/dev/null"
	b.launch.Output = b.pathInPod("output", dir, output)
	if r.Error != "" {
		b.stored.StdErr = absolutePath(dir, r.Error)
		b.launch.Error = b.pathInPod("error", dir, r.Error)
	}
	if r.Input != "" {
		b.stored.StdIn = absolutePath(dir, r.Input)
		b.launch.Input = b.pathInPod("input", dir, r.Input)
	}
}

// workingDirectory returns the script's working directory as a path on the submitting machine. It also sets the
// corresponding path in the pod, for the launcher.
func (b *topic) workingDirectory() string {
	r := b.r
	dir := b.Dir
	if r.Chdir != "" {
		dir = absolutePath(b.Dir, r.Chdir)
	}
	_, inside, covered := b.p.FindVolume(dir)
	switch {
	case r.ContainerWorkdir != "":
		b.launch.WorkDir = r.ContainerWorkdir
	case covered:
		b.launch.WorkDir = inside
		if r.Chdir != "" {
			b.needs = append(b.needs, Need{r.OptionText("chdir"), dir})
		}
	case r.Chdir != "":
		b.addError(usererror.Errorf("directories on volumes: "+b.volumeDirectories()+"; for a directory in the image, use --container-workdir", "--chdir=%s is not on any volume that the site's profile defines", r.Chdir))
	}
	b.recordFields("chdir", "launch.workDir")
	b.recordFields("container-workdir", "launch.workDir")
	return dir
}

// volumeDirectories lists the directories that are available on volumes.
func (b *source) volumeDirectories() string {
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
	return joinWords(all)
}

func absolutePath(dir, file string) string {
	if strings.HasPrefix(file, `\`) { // the prefix disables patterns
		return `\` + absolutePath(dir, strings.TrimPrefix(file, `\`))
	}
	if filepath.IsAbs(file) || dir == "" {
		return filepath.Clean(file)
	}
	return filepath.Join(dir, file)
}

// pathInPod returns the path that a file has in the pod, for the launcher. If no volume contains the file, it returns
// "" and adds a note, a warning or an error.
func (b *topic) pathInPod(option, dir, pattern string) string {
	element := 0
	if b.r.Array == nil {
		element = -1
	}
	if _, err := (launchconfig.Names{ArrayIndex: element}).ExpandPattern(pattern); err != nil {
		b.addError(usererror.Errorf(err.Error(), "Invalid --%s specification", option))
		return ""
	}
	full := absolutePath(dir, pattern)
	plain := strings.TrimPrefix(full, `\`)
	b.recordFields(option, "launch."+option)
	if strings.HasPrefix(plain, "/dev/") {
		return full
	}
	fixed, _, _ := strings.Cut(plain, "%")
	v, inside, covered := b.p.FindVolume(filepath.Dir(fixed + "x"))
	switch {
	case covered && (option == "input" || !v.ReadOnly):
		need := Need{b.r.OptionText(option), filepath.Dir(fixed + "x")}
		if option == "input" && fixed == plain {
			need.Path = plain
		}
		if need.Option != "" && need.Path != dir {
			b.needs = append(b.needs, need)
		}
		rest := strings.TrimPrefix(strings.TrimPrefix(plain, filepath.Dir(fixed+"x")), "/")
		return full[:len(full)-len(plain)] + filepath.Join(inside, rest)
	case option == "input":
		b.addError(usererror.Errorf("directories on volumes: "+b.volumeDirectories(), "--input=%s is not on any volume that the site's profile defines", pattern))
	case option == "output":
		b.notes = append(b.notes, Note{OutputInPodLog, "no shared volume contains " + filepath.Dir(plain) + "; the output is in the pod log"})
	default:
		b.warnings = append(b.warnings, "--"+option+"="+pattern+": no shared volume contains "+filepath.Dir(plain)+"; the output is in the pod log")
	}
	return ""
}

// mountedVolumes returns the profile with the volumes that the job mounts. If --no-container-mount-home is specified,
// it omits the volume of the home directory.
func mountedVolumes(in Input) (*profile.Profile, *part) {
	b := &part{}
	home := launchconfig.VariableValue(in.Environ, "HOME")
	if !in.Request.NoHome || home == "" {
		return in.Profile, b
	}
	v, _, covered := in.Profile.FindVolume(home)
	if !covered {
		b.addNote("--no-container-mount-home: no volume in the site's profile contains " + home + ", so the option has no effect")
		return in.Profile, b
	}
	without := *in.Profile
	without.Volumes = slices.DeleteFunc(slices.Clone(in.Profile.Volumes), func(other profile.Volume) bool { return other.Name == v.Name })
	b.recordFields("no-container-mount-home", containerPath("volumeMounts"))
	if in.Facts.Helper {
		b.addNote("--no-container-mount-home: on a process node, pods see the machine's own " + home + "; files written there are lost")
	}
	return &without, b
}

// containerImage returns the image for the container.
func (b *topic) containerImage() string {
	image := b.r.Image
	if image == "" {
		image = b.p.DefaultImage
	}
	if image == "" && b.Facts.Helper {
		return processImage
	}
	if image == "" {
		b.addError(b.missingImageError())
	}
	if strings.HasSuffix(image, ".sqsh") || strings.HasPrefix(image, "/") {
		b.addError(usererror.Errorf("push the image to a registry, and specify it as registry/name:tag", "--container-image=%s: squashfs files cannot be run here", image))
	}
	return strings.Replace(strings.TrimPrefix(image, "docker://"), "#", "/", 1)
}

// missingImageError returns the error for a job without an image. Its hint depends on whether the user is allowed to
// read the profile, because the profile may specify a default image.
func (b *source) missingImageError() error {
	if where := b.Facts.HiddenProfile; where != "" {
		return usererror.Errorf("specify --container-image, or ask an administrator for permission to get ConfigMap slurm-profile in namespace "+where,
			"no image is specified, and you are not allowed to read the site's profile in namespace %s, which might define a default image", where)
	}
	return usererror.Errorf("specify --container-image or SBATCH_CONTAINER_IMAGE, or set defaultImage in ConfigMap slurm-profile", "no image is specified, and the site's profile has no default image")
}

func (b *source) toolsImage() string {
	if b.p.ToolsImage != "" {
		return b.p.ToolsImage
	}
	return build.Image
}

// setMounts adds the profile's volumes, and the mounts requested with --container-mounts. These mount directories in
// the volumes at other paths.
func (b *topic) setMounts() {
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
		arePaths := filepath.IsAbs(e.source) && filepath.IsAbs(e.target)
		if !arePaths || len(parts) > 3 || !slices.Contains([]string{"", "ro", "rw"}, e.mode) {
			b.addError(usererror.Errorf("use a comma-separated list of SOURCE:TARGET or SOURCE:TARGET:ro with absolute paths", "Invalid --container-mounts specification"))
			continue
		}
		if _, _, ok := b.p.FindVolume(e.source); !ok {
			b.addError(usererror.Errorf("directories on volumes: "+b.volumeDirectories(), "--container-mounts: %s is not on any volume that the site's profile defines", e.source))
			continue
		}
		extras = append(extras, e)
	}
	for i := range b.p.Volumes {
		v := &b.p.Volumes[i]
		b.pod.Volumes = append(b.pod.Volumes, corev1.Volume{Name: v.Name, VolumeSource: *v.VolumeSource.DeepCopy()})
		b.container.VolumeMounts = append(b.container.VolumeMounts, corev1.VolumeMount{Name: v.Name, MountPath: v.MountPath, ReadOnly: v.ReadOnly})
	}
	for _, e := range extras {
		v, inside, _ := b.p.FindVolume(e.source)
		sub := strings.TrimPrefix(strings.TrimPrefix(inside, v.MountPath), "/")
		b.container.VolumeMounts = append(b.container.VolumeMounts, corev1.VolumeMount{Name: v.Name, MountPath: e.target, SubPath: sub, ReadOnly: v.ReadOnly || e.mode == "ro"})
	}
	b.recordFields("container-mounts", b.fieldPaths("containers[0].volumeMounts")...)
}
