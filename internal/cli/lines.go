package cli

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// FindFieldLine returns the line number of a field in a text of YAML or JSON documents. kind and name identify the
// object; path is the path of the field, such as spec.tasks[1].replicas. If the field is missing, FindFieldLine returns
// the line of the nearest enclosing value. It returns 0 if it does not find the object.
func FindFieldLine(text []byte, kind, name, path string) int {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) || err != nil {
			return 0
		}
		if len(document.Content) == 0 {
			continue
		}
		root := document.Content[0]
		if scalarText(root, "kind") != kind || scalarText(childNode(root, "metadata"), "name") != name {
			continue
		}
		return findLineBelow(root, path)
	}
}

// FindLineOfPath returns the line number of the field with this path in a YAML document. If the field is missing, it
// returns the line of the nearest enclosing value. It returns 0 if the text is not YAML.
func FindLineOfPath(text []byte, path string) int {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) == 0 {
		return 0
	}
	return findLineBelow(document.Content[0], path)
}

func findLineBelow(node *yaml.Node, path string) int {
	line := node.Line
	for _, step := range splitFieldPath(path) {
		next, at := node, 0
		if index, err := strconv.Atoi(step); err == nil && node.Kind == yaml.SequenceNode && index < len(node.Content) {
			next = node.Content[index]
			at = next.Line
		} else if key, value := findPair(node, step); value != nil {
			next, at = value, key.Line
		} else {
			break
		}
		node, line = next, at
	}
	return line
}

// splitFieldPath splits a path such as spec.tasks[1].template.labels[a.b/c] into its parts.
func splitFieldPath(path string) []string {
	var parts []string
	for path != "" {
		switch {
		case path[0] == '.':
			path = path[1:]
		case path[0] == '[':
			inside, rest, found := strings.Cut(path[1:], "]")
			if !found {
				return append(parts, inside)
			}
			parts, path = append(parts, inside), rest
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			parts, path = append(parts, path[:end]), path[end:]
		}
	}
	return parts
}

func findPair(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

func childNode(node *yaml.Node, name string) *yaml.Node {
	_, value := findPair(node, name)
	return value
}

func scalarText(node *yaml.Node, name string) string {
	if value := childNode(node, name); value != nil {
		return value.Value
	}
	return ""
}
