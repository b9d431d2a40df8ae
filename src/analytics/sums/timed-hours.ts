import type { Context } from '../../context.js'
import { HOUR } from '../../model/time.js'
import { timedRanges } from '../../store/sql/timed-ranges.js'
import type { Span } from './period.js'

/** Splits a span into parts of whole hours, sized by `timedRanges`. On a server, parts have at most `serverHours`. */
export async function* timedHours(
  { database }: Context,
  { from, to }: Span,
  serverHours = Number.POSITIVE_INFINITY,
): AsyncGenerator<Span> {
  const maxSize = database.dialect.blocksHost ? Number.POSITIVE_INFINITY : serverHours
  for await (const hours of timedRanges(database, Math.ceil((to - from) / HOUR), { maxSize })) {
    yield { from: from + hours.from * HOUR, to: Math.min(from + hours.to * HOUR, to) }
  }
}
