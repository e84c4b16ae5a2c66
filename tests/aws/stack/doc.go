// Package stack gives the AWS tests a cloud: MiniStack started from .venv, an emulator that already runs, or AWS itself.
//
//   - TURNLEAF_AWS_REAL=1: AWS, with the credentials and the region of the environment. What a test makes, it deletes; it costs cents.
//   - AWS_ENDPOINT_URL=http://…: an emulator that somebody else started. Nothing is started or stopped.
//   - neither: MiniStack on a free port of 127.0.0.1, stopped at the end with everything that it started.
package stack
