import { day, list, object, text, time, whole } from '../../dashboard/openapi/schema.js'
import type { GuardedAddress, GuardedPath, GuardedRule, RequestGuardSummary } from './query.js'

const KINDS = { throttle: whole, blocklist: whole, track: whole }

export const requestGuardResponse = object<RequestGuardSummary & { counted_at: string }>({
  days: whole,
  total_count: whole,
  by_kind: object<RequestGuardSummary['by_kind']>(KINDS),
  by_day: list(object<RequestGuardSummary['by_day'][number]>({ day, ...KINDS })),
  by_rule: list(object<GuardedRule>({ rule: text, kind: text, count: whole, last_seen_at: time })),
  by_address: list(object<GuardedAddress>({ ip_address: text, count: whole, last_seen_at: time })),
  by_path: list(object<GuardedPath>({ path: text, count: whole, last_seen_at: time })),
  counted_at: time,
})
