package httpsource

import (
	"slices"
	"testing"
)

func TestLinkTargets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"plain":               {[]string{`<https://a.example/?p=2>; rel="next"`}, []string{"https://a.example/?p=2"}},
		"comma and semicolon": {[]string{`<https://a.example/?f=a,b;c>; title="x, y; <z>"; rel=next`}, []string{"https://a.example/?f=a,b;c"}},
		"second of a line":    {[]string{`<x>; rel=first, <y>; rel=next`}, []string{"y"}},
		"second line":         {[]string{`<x>; rel="self"`, `<y>; rel="next"`}, []string{"y"}},
		"several relations":   {[]string{`<x>; rel="prev  next"`}, []string{"x"}},
		"case":                {[]string{`<x>; REL=NeXT`}, []string{"x"}},
		"spaces":              {[]string{` < x > ;  rel = "next" ; a`}, []string{"x"}},
		"first rel counts":    {[]string{`<x>; rel=prev; rel=next`}, nil},
		"escaped quote":       {[]string{`<x>; title="a\"; rel=prev, "; rel=next`}, []string{"x"}},
		"other page":          {[]string{`<x>; rel=next; anchor="/other"`}, nil},
		"not a relation":      {[]string{`<x>; rel="nextish"; title=next`}, nil},
		"same twice":          {[]string{`<x>; rel=next, <x>; rel=next`}, []string{"x"}},
		"two":                 {[]string{`<x>; rel=next, <y>; rel=next`}, []string{"x", "y"}},
		"relative and empty":  {[]string{`<?after=2&before=>; rel=next`}, []string{"?after=2&before="}},
		"empty items":         {[]string{`, ,<x>; rel=next,,`}, []string{"x"}},
		"no closing":          {[]string{`<x; rel=next`}, nil},
		"no target":           {[]string{`x; rel=next`}, nil},
		"open quote":          {[]string{`<x>; rel="next`}, []string{"x"}},
		"nothing":             {[]string{``}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := linkTargets(map[string][]string{"link": c.lines}, "next"); !slices.Equal(got, c.want) {
				t.Errorf("%q gives %q, want %q", c.lines, got, c.want)
			}
		})
	}
}
