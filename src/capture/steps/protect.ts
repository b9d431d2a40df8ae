import type { Draft, Step } from '../draft.js'

/**
 * Protects host and database from a storm. Frequent errors are counted without writing a row, and details are omitted
 * while the event loop lags. Every occurrence is counted.
 */
export const protect: Step = (draft, { storms, lag, now, count }) => {
  if (storms.isOnlyCounted(draft.hash_signature, now())) {
    draft.counted_only = true
    dropDetails(draft)
    draft.request = undefined
    draft.tags = []
    // These details belong to the row that is not written.
    draft.request_url = null
    draft.ip_address = null
    draft.user_agent = null
    count('storm_counted_only')
  } else if (lag.isLagging()) {
    dropDetails(draft)
    draft.details = { ...draft.details, details_omitted: 'event_loop_lag' }
    count('lag_left_out_details')
  }
}

function dropDetails(draft: Draft): void {
  draft.request_params = undefined
  draft.context = []
  draft.breadcrumbs = null
  draft.frame_sources = null
}
