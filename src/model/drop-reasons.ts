/** What each reason of `Tracker.stats().dropped` means, for the settings page and the documentation. */
export const DROP_REASONS: Readonly<Record<string, string>> = {
  ignored: 'Not recorded: named in ignored_exceptions.',
  skipped_by_callback: 'Not recorded: before_log_callback returned false.',
  sampled_out: 'Not recorded: left out by sampling_rate.',
  client_error: 'Not recorded: an answer from 400 to 499, which the host means for its client.',
  client_gone: 'Not recorded: the client left while the answer was being sent.',
  error_subscriber_is_off: 'Not recorded: Tracker.report was called, but enable_error_subscriber is off.',
  invalid: 'Not recorded: LogError was called with neither an exception nor an error_type and message.',
  reported_while_recording:
    'Not recorded: a callback reported it while the same error, or an error from a callback, was being recorded.',
  stack_exhausted:
    'Not recorded: reported at the last levels of the stack, or while 10,000 errors from the end of the stack were waiting.',
  unknown_severity: 'Recorded; the severity that was given is none, so the rules decided.',
  storm_counted_only: 'Counted without a row of its own: more than max_full_occurrences_per_minute.',
  lag_left_out_details: 'Recorded without parameters, context and breadcrumbs: the event loop was late.',
  flood_shares_a_group: 'Recorded in a shared group: its place had made max_groups_per_place groups within the hour.',
  client_max_requests_per_minute: 'Requests of clients rejected with 429: more than client_max_requests_per_minute.',
  client_max_bytes_per_minute: 'Requests of clients rejected with 429: more than client_max_bytes_per_minute.',
  client_max_new_errors_per_hour: 'Recorded in one shared error: more than client_max_new_errors_per_hour.',
  client_max_stored_bytes_per_day: 'Counted without details: more than client_max_stored_bytes_per_day.',
  client_release_left_out: 'Recorded without a version: clients had reported 200 new versions within the day.',
  notification_max_per_hour: 'Messages moved to the summary of the hour: more than notification_max_per_hour.',
  source_map_skipped:
    'Recorded with the positions of the compiled code: the source map is too large or cannot be read.',
  local_variables_too_many:
    'Seconds in which local_variable_max_per_second was reached; what else was thrown has none.',
  local_variables_too_dear:
    'Seconds in which local_variable_max_pause_ms_per_second was reached; what else was thrown has no local variables.',
  local_variables_optimised: 'Thrown where V8 had optimised the code, and with it the local variables away.',
  local_variables_off: 'Local variables cannot be read in this process; the log on standard error says why.',
  counts_late: 'Not counted: it was told of when the tracker had been shut down.',
  counts_not_written:
    'Sums that could be written neither to the database nor to the spool folder before the end; what they count is lost.',
  counts_refused: 'Sums that the database refused again and again; what they count is lost.',
  invalid_guard_event: 'Not counted: the kind of a request-guard event is none of throttle, blocklist and track.',
  swallowed_exceptions_given_up:
    'Places that were not counted: there were more than swallowed_exception_max_cache_size between two flushes.',
  buffer_overflow: 'Times that the buffer was full; what it held went to the spool folder.',
  database_away: 'Times that the database was out of reach; errors went to the spool folder meanwhile.',
  job_engine_away: 'Times that the job engine was out of reach; errors went by the spool folder meanwhile.',
  refused_by_database: 'Refused by the database, and kept as .failed files in the spool folder.',
  spool_full: 'Lost: the spool folder holds spool_max_bytes already.',
  spool_unwritable: 'The spool folder could not be written; what was not committed either is lost.',
  dashboard_failed: 'Pages of the dashboard that failed; the log on standard error says why.',
  sign_in_limited: 'Sign-ins to the dashboard that were refused: too many wrong passwords within a minute.',
  forwarding_headers_ignored:
    'Dashboard requests whose forwarding headers (X-Forwarded-For, Forwarded, X-Real-IP, CF-Connecting-IP) were ignored: trusted_proxies is empty.',
  process_health_lost: 'Minutes of the health of the process that were lost: the database was away for too long.',
  process_health_refused: 'Minutes of the health of the process that the database refused; they are lost.',
  reported_again: 'Not counted again: a client or SDK sent an event with the same id once more.',
  otel_already_recorded: 'Not recorded again: the exception on a span had been recorded by a hook, or on a span below.',
  trim_failed: 'Times that surplus occurrences could not be removed; a later flush tries again.',
}

/** Of the reasons that end with the kind of what was dropped. */
const KINDS_DROPPED: readonly (readonly [prefix: string, text: string])[] = [
  ['sentry_dropped: ', 'Not recorded: what a Sentry SDK sent is no error but something else, of this kind.'],
]

export function meaningOf(reason: string): string {
  const kind = KINDS_DROPPED.find(([prefix]) => reason.startsWith(prefix))
  if (kind) return kind[1]
  return DROP_REASONS[reason] ?? 'Something of the tracker failed; its log on standard error says what.'
}
