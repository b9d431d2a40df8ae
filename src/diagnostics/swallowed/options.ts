import { boolean, integer, listOf, number, text } from '../../config/kinds.js'
import { row } from '../../config/options.js'

export const swallowedOptions = {
  detect_swallowed_exceptions: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Counts exceptions that are caught and never reported, per code location. Set it with its environment variable and start with --import faultboard/register.',
  }),
  swallowed_exception_threshold: row<number>({
    group: 'diagnostics',
    kind: number(0, 1),
    default: 0.95,
    text: 'A location is listed when the share of its exceptions that are swallowed exceeds this value.',
  }),
  swallowed_exception_flush_interval: row<number>({
    group: 'diagnostics',
    kind: integer(1, 86_400),
    default: 60,
    text: 'Seconds between flushes of the counts.',
  }),
  swallowed_exception_max_cache_size: row<number>({
    group: 'diagnostics',
    kind: integer(10, 100_000),
    default: 1000,
    text: 'Maximum number of locations to count in memory between flushes. Beyond that, the least recently seen locations are evicted.',
  }),
  swallowed_exception_ignore_classes: row<readonly string[]>({
    group: 'diagnostics',
    kind: listOf(text),
    default: [],
    text: 'Exception types that may be swallowed, in addition to AbortError and broken or timed-out connections.',
  }),
}
