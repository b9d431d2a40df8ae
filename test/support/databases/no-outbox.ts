import type { Outbox } from '../../../src/store/recording/outbox.js'

/** Outbox that sends nothing, for recorders and commands without a tracker. */
export const NO_OUTBOX: Outbox = {
  async recorded() {},
  async settled() {},
  async assigned() {},
  noteWrite() {},
  hasRecentWrites: () => false,
}
