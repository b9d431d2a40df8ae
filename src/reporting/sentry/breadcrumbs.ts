import type { RecordedBreadcrumb } from '../../capture/breadcrumbs/breadcrumb.js'
import { asList, asRecord, asScalarText, asText, asTime, type Json } from './values.js'

const MAX_BREADCRUMBS = 100
const MAX_MESSAGE_LENGTH = 1000

/** Breadcrumbs of an event, oldest first. A breadcrumb without a time gets the time of the previous breadcrumb. */
export function readBreadcrumbs(event: Json, occurred_at: number): RecordedBreadcrumb[] {
  let lastTime = occurred_at
  const entries = asList(event.breadcrumbs, MAX_BREADCRUMBS, 'end')
  return entries.map((entry) => {
    const time = asTime(entry.timestamp)
    if (time !== undefined && Number.isFinite(time) && time > 0 && time < MAX_DATE_MS) lastTime = Math.trunc(time)
    return toBreadcrumb(entry, lastTime)
  })
}

/** Maximum time of a Date. A later time would break every page that shows it. */
const MAX_DATE_MS = 8.64e15

function toBreadcrumb(entry: Json, occurred_at: number): RecordedBreadcrumb {
  const data = asRecord(entry.data)
  const level = asText(entry.level)
  const metadata = { ...data, ...(level && level !== 'info' ? { level } : {}) }
  return {
    category: (asText(entry.category) ?? asText(entry.type) ?? 'default').slice(0, 64),
    message: (asText(entry.message) ?? requestText(data) ?? asText(data?.to) ?? '').slice(0, MAX_MESSAGE_LENGTH),
    occurred_at,
    ...(Object.keys(metadata).length > 0 ? { metadata: metadata } : {}),
  }
}

/** `GET https://shop.example/cart 500`, for breadcrumbs that describe a request only in their data. */
function requestText(data: Json | undefined): string | undefined {
  const url = asText(data?.url)
  if (!url) return undefined
  return [asText(data?.method), url, asScalarText(data?.status_code)].filter(Boolean).join(' ')
}
