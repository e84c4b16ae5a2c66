package local

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/turnleaf/turnleaf/internal/demo"
	"github.com/turnleaf/turnleaf/internal/reviewapi"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// demoSeed makes every newcomer meet the same events.
const demoSeed = 20260301

// startDemo starts the demo feed, and gives the configuration with its stream added. The feed is guarded like the review API: its
// token is new at every start.
func startDemo(ctx context.Context, s *servers, o Options) (Config, error) {
	saved, err := demo.Load(o.Folder.Demo(), demoSeed, o.Now())
	if err != nil {
		return o.Config, err
	}
	token := o.NewToken()
	feed := demo.Handler(saved.Feed(), o.Now, o.DemoDelay)
	saved.Address, err = s.start(ctx, saved.Address, func(string) http.Handler { return guarded(token, feed) })
	if err != nil {
		return o.Config, fmt.Errorf("serve demo feed: %w", err)
	}
	path, err := saved.Write(o.Folder.Demo(), token)
	if err != nil {
		return o.Config, err
	}
	def, err := streamdef.LoadFile(path)
	if err != nil {
		return o.Config, fmt.Errorf("read demo definition: %w", err)
	}
	c := o.Config
	c.Definitions = []*streamdef.Definition{def}
	for _, d := range o.Definitions {
		if d.Name != demo.Name {
			c.Definitions = append(c.Definitions, d)
		}
	}
	return c, nil
}

// DemoDefinition is where the demo of this folder keeps its definition; ok is false if it never ran.
func (f Folder) DemoDefinition() (path string, ok bool) {
	path = filepath.Join(f.Demo(), demo.Name+".yaml")
	_, err := os.Stat(path)
	return path, err == nil
}

// guarded lets only requests of this machine with the token through.
func guarded(token string, h http.Handler) http.Handler { return reviewapi.Loopback(token, h) }
