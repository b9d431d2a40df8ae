import type { Draft, Step } from '../draft.js'

/**
 * Protects host and database from a storm: what comes too often is counted without a row of its own, and while the
 * event loop is late nothing is described in detail. No count is ever left out.
 */
export const protect: Step = (draft, { storms, lag, now, count }) => {
  if (storms.isThinned(draft.hash_signature, now())) {
    draft.counted_only = true
    leaveOutDetails(draft)
    draft.request = undefined
    draft.tags = []
    // They would go into the row that it does not get.
    draft.request_url = null
    draft.ip_address = null
    draft.user_agent = null
    count('storm_counted_only')
  } else if (lag.isLate()) {
    leaveOutDetails(draft)
    count('lag_left_out_details')
  }
}

function leaveOutDetails(draft: Draft): void {
  draft.request_params = undefined
  draft.context = []
  draft.breadcrumbs = null
  draft.frame_sources = null
}
