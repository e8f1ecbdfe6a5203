package srun

import "testing"

func FuzzProgramsByTask(f *testing.F) {
	for _, seed := range []string{"0-3,5 a %t\n* b", "1 'a b' \"c\\\"d\" # x", "0", "* 'open", "9-1 a"} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, text string, rank int) {
		programs, err := parsePrograms(text)
		if err != nil {
			return
		}
		for i := range programs {
			if len(programs[i].args) == 0 {
				t.Errorf("%q: a line without a program", text)
			}
		}
		_ = commandOfTask(programs, rank)
	})
}
