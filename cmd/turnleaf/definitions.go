package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"

	"github.com/turnleaf/turnleaf/internal/handoff"
	"github.com/turnleaf/turnleaf/internal/httpsource"
	"github.com/turnleaf/turnleaf/internal/local"
	"github.com/turnleaf/turnleaf/internal/streamdef"
)

// definitions reads the folder of definitions, and the demo's if it ran on this data folder. A missing default folder is empty; a
// missing folder that was asked for is an error.
func (s *session) definitions() ([]*streamdef.Definition, error) {
	defs, err := streamdef.Load(s.Streams)
	if errors.Is(err, fs.ErrNotExist) && s.Streams == defaultStreams {
		defs, err = nil, nil
	}
	if err != nil {
		return nil, definitionError(err)
	}
	path, ok := local.Folder(s.Data).DemoDefinition()
	if !ok {
		return defs, nil
	}
	demo, err := streamdef.LoadFile(path)
	if err != nil {
		return nil, definitionError(err)
	}
	for _, d := range defs {
		if d.Name == demo.Name {
			return defs, nil
		}
	}
	return append(defs, demo), nil
}

// definitionError makes faults in files a matter of input.
func definitionError(err error) error {
	if len(streamdef.Problems(err)) > 0 {
		return usageError{err.Error()}
	}
	return err
}

// config is what a data folder is opened with.
func (s *session) config() (local.Config, error) {
	defs, err := s.definitions()
	return s.configOf(defs), err
}

func (s *session) configOf(defs []*streamdef.Definition) local.Config {
	return local.Config{
		Folder: local.Folder(s.Data), Definitions: defs, Now: s.now,
		Secrets: httpsource.HostSecrets{LookupEnv: s.lookupEnv, ReadFile: os.ReadFile},
	}
}

// hints are the commands that people are told to run, with the flags that they need.
func (s *session) hints() local.Hints {
	h := local.Hints{Command: s.command}
	if s.Data != defaultData {
		h.Flags = append(h.Flags, "--data", s.Data)
	}
	h.Flags = append(h.Flags, s.deployed.flags()...)
	return h
}

type validateCmd struct {
	Files []string `arg:"" optional:"" help:"Definitions to check; all of the --streams folder if none is named." type:"existingfile"`
}

// Help implements kong's detailed help.
func (validateCmd) Help() string { return "Example: turnleaf validate streams/orders.yaml" }

// Run checks definitions without touching state or network.
func (c validateCmd) Run(s *session) error {
	var defs []*streamdef.Definition
	var errs []error
	if len(c.Files) == 0 {
		loaded, err := streamdef.Load(s.Streams)
		if err != nil && len(streamdef.Problems(err)) == 0 {
			return err
		}
		defs, errs = loaded, append(errs, err)
	}
	for _, f := range c.Files {
		d, err := streamdef.LoadFile(f)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		defs = append(defs, d)
	}
	return s.validated(defs, errors.Join(errs...))
}

func (s *session) validated(defs []*streamdef.Definition, err error) error {
	problems := streamdef.Problems(err)
	for _, p := range problems {
		if s.JSON {
			if err := s.emit(p); err != nil {
				return err
			}
		} else if err := s.printf("%s\n", local.Printable(p.Error())); err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return usagef("%d problems", len(problems))
	}
	if err != nil {
		return err
	}
	for _, d := range defs {
		if s.JSON {
			if err := s.emit(map[string]string{"stream": d.Name, "file": d.Path, "revision": d.Revision}); err != nil {
				return err
			}
		} else if err := s.printf("%s: stream %s is valid; effect: %s\n", local.Printable(d.Path), d.Name, effectText(d)); err != nil {
			return err
		}
	}
	return nil
}

// effectText says what the effect promises.
func effectText(d *streamdef.Definition) string {
	if d.Effect.Projection != nil {
		return "projection, " + string(handoff.Transactional) + " (effect and receipt in one transaction)"
	}
	return "none"
}

type schemaCmd struct{}

// Help implements kong's detailed help.
func (schemaCmd) Help() string {
	return "Example: turnleaf schema > .turnleaf/stream.schema.json, and point your editor at it."
}

// Run prints the schema.
func (schemaCmd) Run(s *session) error {
	_, err := s.stdout.Write(streamdef.Schema())
	return err
}

type versionCmd struct{}

// Run prints what the build knows of itself.
func (versionCmd) Run(s *session) error {
	version, revision := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, kv := range info.Settings {
			if kv.Key == "vcs.revision" {
				revision = fmt.Sprintf("%.12s", kv.Value)
			}
		}
	}
	if s.JSON {
		return s.emit(map[string]string{"version": version, "revision": revision})
	}
	return s.printf("turnleaf %s %s\n", version, revision)
}
