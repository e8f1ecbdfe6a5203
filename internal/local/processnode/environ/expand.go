package environ

import "strings"

// ExpandVariables replaces $(KEY) with the value that lookup returns. $$ becomes $. Unknown keys are left unchanged.
func ExpandVariables(text string, lookup func(key string) (string, bool)) string {
	if !strings.Contains(text, "$") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		switch text[i+1] {
		case '$':
			out.WriteByte('$')
			i++
		case '(':
			end := strings.IndexByte(text[i:], ')')
			if end < 0 {
				out.WriteByte('$')
				continue
			}
			key := text[i+2 : i+end]
			if value, ok := lookup(key); ok {
				out.WriteString(value)
			} else {
				out.WriteString(text[i : i+end+1])
			}
			i += end
		default:
			out.WriteByte('$')
		}
	}
	return out.String()
}

// ExpandArguments expands each argument with an environment, given as KEY=value lines.
func ExpandArguments(args, env []string) []string {
	values := linesToMap(env)
	expanded := make([]string, len(args))
	for i, arg := range args {
		expanded[i] = ExpandVariables(arg, func(key string) (string, bool) { value, ok := values[key]; return value, ok })
	}
	return expanded
}

func linesToMap(env []string) map[string]string {
	values := make(map[string]string, len(env))
	for _, line := range env {
		key, value, _ := strings.Cut(line, "=")
		values[key] = value
	}
	return values
}
