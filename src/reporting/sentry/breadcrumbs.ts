import type { RecordedBreadcrumb } from '../../capture/breadcrumbs/breadcrumbs.js'
import { type Json, recordOf, textIn, timeIn, valuesOf, wordIn } from './values.js'

const MOST_CRUMBS = 100
const MESSAGE_LIMIT = 1000

/** Breadcrumbs of an event, oldest first. One without a time gets the time of the one before it. */
export function breadcrumbsOf(event: Json, occurred_at: number): RecordedBreadcrumb[] {
  let last = occurred_at
  const crumbs = valuesOf(event.breadcrumbs, MOST_CRUMBS, 'end')
  return crumbs.map((crumb) => {
    const time = timeIn(crumb.timestamp)
    if (time !== undefined && Number.isFinite(time) && time > 0 && time < LATEST) last = Math.trunc(time)
    return crumbOf(crumb, last)
  })
}

/** Maximum time of a Date. A later time would break every page that shows it. */
const LATEST = 8.64e15

function crumbOf(crumb: Json, occurred_at: number): RecordedBreadcrumb {
  const data = recordOf(crumb.data)
  const level = textIn(crumb.level)
  const more = { ...data, ...(level && level !== 'info' ? { level } : {}) }
  return {
    category: (textIn(crumb.category) ?? textIn(crumb.type) ?? 'default').slice(0, 64),
    message: (textIn(crumb.message) ?? requestIn(data) ?? textIn(data?.to) ?? '').slice(0, MESSAGE_LIMIT),
    occurred_at,
    ...(Object.keys(more).length > 0 ? { metadata: more } : {}),
  }
}

/** `GET https://shop.example/cart 500`, for breadcrumbs that describe a request only in their data. */
function requestIn(data: Json | undefined): string | undefined {
  const url = textIn(data?.url)
  if (!url) return undefined
  return [textIn(data?.method), url, wordIn(data?.status_code)].filter(Boolean).join(' ')
}
