import type { Outbox } from '../../../src/store/recording/outbox.js'

/** For recorders and commands without a tracker around them: nobody is told. */
export const NO_OUTBOX: Outbox = { async recorded() {}, async settled() {}, hasRecentWrites: () => false }
