package main

import "github.com/turnleaf/turnleaf/internal/handoff"

// custom is the one function a team edits for an effect of its own. It is given a stream and the effect that its definition declares,
// and gives the effect to use. Return declared for every stream you do not handle.
//
// Your effect says in Traits what it promises, because the protocol acts on it: Transactional gives projection writes from Plan;
// Idempotent and Unsafe make their call in Call, which gets the key that names the event for ever.
func custom(_ handoff.Stream, declared handoff.Effect) handoff.Effect { return declared }
