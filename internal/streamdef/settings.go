package streamdef

import "github.com/turnleaf/turnleaf/internal/handoff"

// Settings is what the protocol needs to know, for the definition's own stream or one of its partitions. Start stays empty: it
// depends on the time, see StartCursor.
func (d *Definition) Settings(stream handoff.Stream) handoff.Settings {
	return handoff.Settings{
		Stream: stream, Definition: d.Name,
		Interval: d.Every, Pages: d.Pages,
		Lanes: d.lanes(), Contract: d.Contract.handoff(),
		Revision: d.Revision, FetchHash: d.FetchHash, Identity: d.IdentityHash, Policy: d.PolicyHash, Effect: d.EffectHash,
	}
}

func (d *Definition) lanes() handoff.LaneRule {
	switch d.Event.Entity {
	case "":
		return handoff.LanePage
	case entityNone:
		return handoff.LaneEvent
	}
	return handoff.LaneEntity
}

func (c Contract) handoff() handoff.Contract {
	arrival := c.Positions == "arrival"
	return handoff.Contract{
		Ordered: c.Order == "ordered" && !arrival, Unique: c.Positions == "unique", Arrival: arrival,
		Gapless: c.Gapless, ApplyLate: c.Late == "apply", OnceToken: c.Token == "once",
		Overlap: c.Overlap, Watermark: c.ReplayProof == "watermark",
		HoldBack: c.HoldBack, Retention: c.Retention, ReceiptRetention: c.ReceiptRetention,
	}
}
