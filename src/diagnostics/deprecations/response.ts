import { day, list, object, text, time, whole } from '../../dashboard/openapi/schema.js'
import type { DeprecationSummary, DeprecationWarning } from './query.js'

export const deprecationsResponse = object<DeprecationSummary & { counted_at: string }>({
  days: whole,
  total_count: whole,
  by_day: list(object<DeprecationSummary['by_day'][number]>({ day, count: whole })),
  deprecations: list(
    object<DeprecationWarning>({
      code: text,
      message: text,
      count: whole,
      first_seen_at: time,
      last_seen_at: time,
      app_versions: list(text),
      places: list(object<DeprecationWarning['places'][number]>({ place: text, count: whole })),
    }),
  ),
  counted_at: time,
})
