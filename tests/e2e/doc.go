// Package e2e is the deployed proof: `sam build` and `sam deploy` of the real template onto an emulated cloud, the real schedule, queues
// and API, the real binaries under the roles that the template gives them. A feed of 2,000 events is consumed while functions are killed
// in flight, messages are delivered twice, a dead-letter queue is redriven and another code is deployed; at the end a second, simple
// model says what every document must hold. `make test-e2e` runs it.
//
// The emulator is MiniStack 1.5.33 with AUTH=true: it checks signatures, and evaluates the roles' policies for every call of a function.
// A proxy of the test (gate) stands between the functions and the emulator. It says that a call came over TLS, so that the policies that
// ask for it hold, sees which process made which call, and ends that process at the moments that a test asks for. It finds processes in
// /proc: this runs on Linux.
//
// What this leaves unproved, and why:
//
//   - arm64, unless the machine is: the functions are plain processes here. `make functions` builds both.
//   - a function's life of 30 seconds: it is 2 here, so that a message hidden by a dead process comes back in 12 seconds and not in 180.
//     The order of all waits is kept, since each follows from it (internal/cloud, TestTiming).
//   - memory limits, INIT, a frozen process between invocations, cold starts at scale.
//   - TTL, PITR, lifecycle, EventInvokeConfig and RecursiveLoop: MiniStack 1.5.33 takes them from a template without a word and drops
//     them. The test reads everything back, and sets these by hand, so that what is shown is the service's API and not the template's
//     effect. tests/template looks at the template itself.
//   - numbers of the event source mappings: the emulator keeps a parameter's as text, and deploy.Mend puts them right (localstack/README.md).
//   - deploying while functions run: the emulator ends their processes, AWS lets them finish.
//   - alarms going off, the dashboard, subscriptions: they are created, nothing here evaluates them.
//   - IAM as AWS evaluates it: the emulator's own evaluation is close and is not AWS, and three of its gaps are filled in the roles
//     (roles_test.go). KMS keys, VPC and JWT authorizers are not deployed.
//   - TransactionConflict, throttles and partial batches of DynamoDB: no emulator makes any; tests/aws injects them.
package e2e
