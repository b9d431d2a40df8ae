import * as v from 'valibot'
import type { Cause } from '../model/event.js'
import { list, MAX_TEXT_LENGTH, oneOf, plainObject, text } from './values.js'

const number = v.pipe(v.number('must be a number'), v.finite('must be a number'))

/** Cause of an error. */
export const cause: v.GenericSchema<Cause> = v.object(
  {
    error_type: text(MAX_TEXT_LENGTH),
    message: text(MAX_TEXT_LENGTH),
    backtrace: list(text(MAX_TEXT_LENGTH)),
    relation: oneOf(['cause', 'aggregated', 'suppressed']),
    code: v.exactOptional(text(MAX_TEXT_LENGTH)),
    causes: v.exactOptional(v.lazy(() => list(cause))),
  },
  'must be an object',
)

/** Maximum time of a Date. */
const MAX_DATE_MS = 8_640_000_000_000_000

const breadcrumb = v.looseObject(
  {
    occurred_at: v.pipe(
      number,
      v.minValue(0, 'must be a timestamp in milliseconds'),
      v.maxValue(MAX_DATE_MS, 'must be a timestamp in milliseconds'),
    ),
    category: text(MAX_TEXT_LENGTH),
    message: text(MAX_TEXT_LENGTH),
    duration_ms: v.exactOptional(number),
    metadata: v.exactOptional(plainObject),
  },
  'must be an object',
)

/** Context of an occurrence. Pages rely on these shapes; other data is shown unchanged. */
export const occurrenceContext = v.looseObject(
  {
    request: v.exactOptional(plainObject),
    tags: v.exactOptional(plainObject),
    context: v.exactOptional(plainObject),
    breadcrumbs: v.exactOptional(list(breadcrumb)),
  },
  'must be an object',
)
