/** Meaning of each reason in `Tracker.stats().dropped`, for the health page and the documentation. */
export const DROP_REASONS: Readonly<Record<string, string>> = {
  ignored: 'Not recorded: listed in ignored_exceptions.',
  skipped_by_callback: 'Not recorded: before_log_callback returned false.',
  sampled_out: 'Not recorded: skipped by sampling_rate.',
  client_error: 'Not recorded: the response status was 400 to 499, which indicates a client error.',
  client_gone: 'Not recorded: the client disconnected while the response was being sent.',
  error_subscriber_is_off: 'Not recorded: Tracker.report was called, but enable_error_subscriber is off.',
  invalid: 'Not recorded: LogError was called without an exception and without error_type and message.',
  reported_while_recording:
    'Not recorded: reported by a callback while the same error, or an error of a callback, was being recorded.',
  stack_exhausted: 'Not recorded: reported with the call stack exhausted, or while 10,000 such errors were pending.',
  unknown_severity: 'Recorded: unknown severity; the severity rules were applied.',
  storm_counted_only: 'Counted without its own row: more than max_full_occurrences_per_minute.',
  lag_left_out_details: 'Recorded without parameters, context and breadcrumbs: the event loop was lagging.',
  flood_shares_a_group:
    'Recorded in a shared group: its code location had created max_groups_per_place groups within the hour.',
  client_max_requests_per_minute: 'Client requests rejected with 429: more than client_max_requests_per_minute.',
  client_max_bytes_per_minute: 'Client requests rejected with 429: more than client_max_bytes_per_minute.',
  client_max_new_errors_per_hour: 'Recorded in one shared error: more than client_max_new_errors_per_hour.',
  client_max_stored_bytes_per_day: 'Counted without details: more than client_max_stored_bytes_per_day.',
  client_release_left_out: 'Recorded without a version: clients had reported 200 new versions within the day.',
  notification_max_per_hour: 'Notifications moved to the hourly summary: more than notification_max_per_hour.',
  source_map_skipped:
    'Recorded with the positions of the compiled code: the source map is too large or cannot be read.',
  local_variables_rate_limit:
    'Seconds in which local_variable_max_per_second was reached. Further errors have no local variables.',
  local_variables_time_limit:
    'Seconds in which local_variable_max_pause_ms_per_second was reached. Further errors have no local variables.',
  local_variables_optimized: 'Thrown in code that V8 had optimized, which removes local variables.',
  local_variables_off: 'Local variables cannot be read in this process; see the log on standard error.',
  counts_late: 'Not counted: received after the tracker was shut down.',
  counts_not_written:
    'Counters that could be written neither to the database nor to the spool folder before exit. Their counts are lost.',
  counts_refused: 'Counters that the database rejected repeatedly. Their counts are lost.',
  invalid_guard_event: 'Not counted: the kind of the request guard event is not throttle, blocklist or track.',
  swallowed_locations_evicted:
    'Locations not counted: more than swallowed_exception_max_cache_size between two flushes.',
  buffer_overflow: 'Times the buffer was full and its contents were written to the spool folder.',
  database_unavailable: 'Times the database was unreachable. Errors were written to the spool folder.',
  job_engine_unavailable: 'Times the job engine was unreachable. Errors were written to the spool folder.',
  refused_by_database: 'Rejected by the database and kept as .failed files in the spool folder.',
  spool_full: 'Lost: the spool folder reached spool_max_bytes.',
  spool_unwritable: 'Lost: the spool folder is not writable.',
  journal_unwritable:
    'Failed writes to the spool folder with async_logging. The errors were acknowledged after the commit instead.',
  dashboard_failed: 'Dashboard pages that failed; see the log on standard error.',
  audit_failed: 'Changes that were made but could not be written to the audit log; see the log on standard error.',
  sign_in_limited: 'Dashboard sign-ins rejected: too many wrong passwords within a minute.',
  forwarding_headers_ignored:
    'Dashboard requests whose forwarding headers (X-Forwarded-For, Forwarded, X-Real-IP, CF-Connecting-IP) were ignored: trusted_proxies is empty.',
  process_health_lost: 'Process health samples that were lost: the database was unreachable for too long.',
  process_health_refused: 'Process health samples that the database rejected; they are lost.',
  reported_again: 'Duplicates: a client or SDK sent the same id again.',
  otel_already_recorded: 'Not recorded again: a hook or an inner span had already recorded the exception of this span.',
  trim_failed: 'Failed attempts to remove surplus occurrences; a later flush retries.',
}

/** Prefixes of reasons that end with the kind of the dropped item. */
const REASON_PREFIXES: readonly (readonly [prefix: string, text: string])[] = [
  ['sentry_dropped: ', 'Not recorded: a Sentry SDK sent an item of this kind, which is not an error.'],
]

export function describeDropReason(reason: string): string {
  const prefixed = REASON_PREFIXES.find(([prefix]) => reason.startsWith(prefix))
  if (prefixed) return prefixed[1]
  return DROP_REASONS[reason] ?? 'Internal failures of the tracker; see the log on standard error.'
}
