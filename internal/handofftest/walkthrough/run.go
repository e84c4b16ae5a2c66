package walkthrough

import "testing"

// Run plays every walkthrough on the given backend.
func Run(t *testing.T, open func(*testing.T) Backend) {
	for _, story := range []struct {
		name string
		play func(*testing.T, func(*testing.T) Backend)
	}{
		{"OverlapWithCrash", overlapWithCrash},
		{"QuarantineInMemoryThenDurable", quarantine},
		{"StaleConcurrentRetry", staleConcurrentRetry},
		{"EmptyPageWithAdvancingToken", emptyPage},
		{"NonAdvancingTokenWithEvents", selfTokenWithEvents},
		{"NonAdvancingTokenWithoutEvents", selfTokenWithoutEvents},
		{"SameIDOtherContent", sameIDOtherContent},
		{"SameIDOtherContentInOnePage", sameIDInOnePage},
		{"AcknowledgementLost", acknowledgementLost},
		{"TwoPollsDifferentAnswers", twoPolls},
		{"PageFrozenBeforeOpenAndWokenAfterReset", frozenBeforeOpen},
		{"ResetRacingAnOpen", resetRacingOpen},
		{"PauseAndResumeWhileClosing", pauseWhileClosing},
		{"ClosingPollWakesTwoPagesLater", closingWakesLate},
		{"AmbiguousHoldLivesThroughReset", ambiguousThroughReset},
		{"DeathBeforePromote", deathBeforePromote},
		{"SelfTokenWithSpoolEntry", selfTokenWithSpool},
		{"TenThousandIdleAnswers", idleAnswers},
		{"AcceptedHaltOnAMovingFeed", acceptedHalt},
		{"TokenCycle", tokenCycle},
		{"LateEvent", lateEvent},
		{"BackwardResetAppliesBackfill", backfill},
		{"GapAcrossBorder", gapAcrossBorder},
		{"PositionConflictAcrossBorder", positionConflict},
		{"HoldBack", holdBackStory},
		{"CursorRefused", cursorRefused},
		{"SingleUseToken", singleUseToken},
		{"PageTokenRefused", pageTokenRefused},
		{"UnreadableAnswer", unreadable},
		{"SourceDown", sourceDown},
		{"InvalidRecord", invalidRecord},
		{"ClaimsAndUnknownCalls", claims},
		{"ClaimantSleptThroughItsLease", sleptClaim},
		{"IdempotentWindow", idempotentWindow},
		{"RetriesAreDurable", retries},
		{"EffectChangedOnRedelivery", effectChanged},
		{"CrashLoop", crashLoop},
		{"OldPoll", oldPoll},
		{"DeadlineHandsOn", deadline},
		{"EventsObjectRebuilt", rebuilt},
		{"LostPage", lostPage},
		{"DecisionRepeated", decisionRepeated},
		{"ReleaseSuppressesOnlyItsHold", releaseSuppresses},
		{"PauseKeepsHaltAndDrains", pauseKeepsHalt},
		{"StreamsAreIsolated", isolated},
		{"BarrierOverChunks", barrier},
		{"ResetRacingAPromote", resetRacingPromote},
		{"PauseRacingAnOpen", pauseRacingOpen},
		{"ApplyWakesAfterReset", applyWakesAfterReset},
		{"ClosingPollWakesIntoAnotherReset", closingWakesIntoAnother},
		{"ClaimThroughReset", claimThroughReset},
		{"SecondContentWaits", secondContentWaits},
		{"HaltRacingAnOpen", haltRacingOpen},
		{"PrefixWakesLate", prefixWakesLate},
		{"DamagedChunk", damagedChunk},
		{"AcceptedCycle", acceptedCycle},
		{"ForeignSpoolEntry", foreignSpool},
		{"SpoolEntryUsed", spoolUsed},
		{"AcceptedAnswerGone", acceptedAnswerGone},
		{"IdleSingleUseToken", idleSingleUse},
	} {
		t.Run(story.name, func(t *testing.T) { t.Parallel(); story.play(t, open) })
	}
}
