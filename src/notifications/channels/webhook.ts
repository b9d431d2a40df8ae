import { createHmac } from 'node:crypto'
import { type Links, urlHost } from '../content/dashboard-links.js'
import { EMAIL_ONLY_EVENTS, type Notice } from '../content/notice.js'
import { truncate } from '../content/safe-text.js'
import { post } from '../outbound/http-post.js'
import { defineChannel } from './channel.js'

const MAX_TEXT_LENGTH = 8192
/** Shorter limit for notices that list many errors. */
const MAX_SUMMARY_TEXT_LENGTH = 500
const MAX_LIST_LENGTH = 50

/** Generic webhook. Posts the whole notice as JSON, signed with `webhook_secret`. */
export const webhook = defineChannel({
  name: 'webhook',
  label: 'Webhook',
  enablingOption: 'webhook_url',
  missingOptions: ({ webhook_url }) => (webhook_url === null ? null : []),
  target: ({ webhook_url }) => urlHost(webhook_url),
  supports: (event) => event !== 'resolved' && !EMAIL_ONLY_EVENTS.includes(event),
  async send({ key, notice }, sendContext) {
    const { webhook_url, webhook_secret } = sendContext.config
    const body = JSON.stringify({ key, ...toJson(notice), links: noticeLinks(notice, sendContext.links) })
    const headers = {
      'X-Faultboard-Event': notice.event,
      ...(webhook_secret === null
        ? {}
        : { 'X-Faultboard-Signature': signBody(webhook_secret, sendContext.now(), body) }),
    }
    return post({ url: webhook_url ?? '', key, body, headers }, sendContext)
  },
})

/** Includes the timestamp in the signature, so that receivers can reject replayed requests. */
function signBody(secret: string, now: number, body: string): string {
  const t = Math.floor(now / 1000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}

function noticeLinks(notice: Notice, links: Links) {
  return { error: 'error' in notice ? links.error(notice.error.id) : null, dashboard: links.page('/overview') }
}

/** Serializes times as ISO 8601 and limits the length of texts and lists. */
function toJson(notice: Notice): Record<string, unknown> {
  const maxLength = notice.event === 'held' || notice.event === 'digest' ? MAX_SUMMARY_TEXT_LENGTH : MAX_TEXT_LENGTH
  return JSON.parse(
    JSON.stringify(notice, (name, value: unknown) => {
      if (typeof value === 'string') return truncate(value, maxLength).toWellFormed()
      if (Array.isArray(value)) return value.slice(0, MAX_LIST_LENGTH)
      return typeof value === 'number' && /^(at|from|to)$|_at$/.test(name) ? new Date(value).toISOString() : value
    }),
  )
}
