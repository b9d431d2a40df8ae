import { flag, list, nullable, number, object, text, time, whole } from '../../dashboard/openapi/schema.js'
import type { SwallowedExceptions, SwallowingHandler, SwallowingLocation } from './query.js'

export const swallowedResponse = object<SwallowedExceptions>({
  days: whole,
  threshold: number,
  runtime: object<SwallowedExceptions['runtime']>({ supported: flag, reason: nullable(text) }),
  is_counting: flag,
  watched_files: whole,
  totals: object<SwallowedExceptions['totals']>({
    locations: whole,
    raise_count: whole,
    rescue_count: whole,
    reported_count: whole,
    unaccounted_count: whole,
  }),
  locations: list(
    object<SwallowingLocation>({
      error_type: text,
      raise_location: text,
      raise_count: whole,
      rescue_count: whole,
      reported_count: whole,
      unaccounted_count: whole,
      rescue_ratio: number,
      last_seen_at: time,
      handlers: list(object<SwallowingHandler>({ rescue_location: text, handler_kind: text, rescue_count: whole })),
    }),
  ),
  total_count: whole,
})
