package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/vc-batch/vc/internal/local/controlplane"
	"github.com/vc-batch/vc/internal/usererror"
)

// CheckKubeconfig returns an error if a kubeconfig must not be written to path. To protect users' own kubeconfigs,
// the file must not exist or must have been written by vc-local.
func CheckKubeconfig(path string) error {
	if path == "" {
		return nil
	}
	config, err := clientcmd.LoadFromFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return usererror.Wrapf("use --kubeconfig to specify a file that does not exist yet", "%s exists but is not a kubeconfig that vc-local created: %v", path, err)
	}
	if _, ours := config.AuthInfos[controlplane.AdminUser]; ours && len(config.Clusters) == 1 && len(config.AuthInfos) == 1 {
		return nil
	}
	return usererror.Wrapf("use --kubeconfig to specify a file that does not exist yet", "%s is a kubeconfig that vc-local did not create, so vc-local does not change it", path)
}

func copyKubeconfig(from, to string) error {
	if err := CheckKubeconfig(to); err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, data, 0o600)); err != nil {
		return usererror.Wrapf("use --kubeconfig to specify a file that you can write to", "%v", err)
	}
	return nil
}
