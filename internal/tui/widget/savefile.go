package widget

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// AskAndSave returns the effect that asks for the name of a file and writes text to it. name is the suggested name,
// and what describes the text, for example "120 lines". An existing file is not changed.
func AskAndSave(question, name, text, what string) screenapi.Effect {
	return screenapi.Input{
		Question: question,
		Lines:    []string{"Enter a file name. Relative names refer to the directory where the dashboard was started."},
		Value:    name,
		Check:    checkNewFile,
		Then: func(path string) []screenapi.Effect {
			return []screenapi.Effect{screenapi.Run{Name: "save " + path, Do: func(context.Context) (string, error) {
				return saveFile(path, text, what)
			}}}
		},
	}
}

func checkNewFile(path string) error {
	if path == "" {
		return errors.New("enter a file name")
	}
	return nil
}

// saveFile writes text to a new file that only the user can read, because logs can contain secrets.
func saveFile(path, text, what string) (said string, err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("file %s already exists; choose another name", path)
	}
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(path))
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return fmt.Sprintf("%s saved to %s", what, path), nil
}
