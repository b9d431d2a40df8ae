import { flag, list, nullable, number, object, text, time, whole, word } from '../../dashboard/openapi/schema.js'
import { type HealthPoint, type ListedProcess, type ProcessHealthPage, RANGE_NAMES } from './process-health.js'

const listedProcess = object<ListedProcess>({
  id: whole,
  application_id: whole,
  application_name: text,
  hostname: text,
  pid: whole,
  node_version: text,
  app_version: nullable(text),
  started_at: time,
  last_seen_at: time,
  alive: flag,
  rss_bytes: nullable(whole),
  heap_used_bytes: nullable(whole),
  heap_limit_bytes: nullable(whole),
  delay_p99_ms: nullable(number),
  cpu: nullable(number),
})

export const processHealthResponse = object<ProcessHealthPage>({
  range: word(RANGE_NAMES),
  step_minutes: whole,
  processes: list(listedProcess),
  process: nullable(listedProcess),
  points: list(
    object<HealthPoint>({
      at: time,
      rss_bytes: nullable(number),
      heap_used_bytes: nullable(number),
      heap_limit_bytes: nullable(number),
      delay_p50_ms: nullable(number),
      delay_p99_ms: nullable(number),
      delay_max_ms: nullable(number),
      utilisation: nullable(number),
      cpu: nullable(number),
      gc_ms: nullable(number),
      handles: nullable(number),
      errors: nullable(number),
    }),
  ),
})
