import { createHmac } from 'node:crypto'
import { cut } from '../content/legible.js'
import { hostOf, type Links } from '../content/links.js'
import type { Notice } from '../content/notice.js'
import { post } from '../delivery/outbound.js'
import type { Channel } from './channel.js'

const MAX_TEXT = 8192
/** Where a message tells of many. */
const MAX_TEXT_OF_MANY = 500
const MAX_LIST = 50

/** A program of the host's: it gets the whole notice, signed so that it can tell it from a forged one. */
export const webhook: Channel = {
  name: 'webhook',
  missing: ({ webhook_url }) => (webhook_url === null ? null : []),
  target: ({ webhook_url }) => hostOf(webhook_url),
  carries: (event) => event !== 'resolved' && event !== 'digest',
  async send({ key, notice }, sending) {
    const { webhook_url, webhook_secret } = sending.config
    const body = JSON.stringify({ key, ...asJson(notice), links: linksFor(notice, sending.links) })
    const headers = {
      'X-Faultboard-Event': notice.event,
      ...(webhook_secret === null ? {} : { 'X-Faultboard-Signature': signature(webhook_secret, sending.now(), body) }),
    }
    return post({ url: webhook_url ?? '', key, body, headers }, sending)
  },
}

/** The time is signed too: a message that somebody recorded cannot be played again for long. */
function signature(secret: string, now: number, body: string): string {
  const t = Math.floor(now / 1000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}`
}

function linksFor(notice: Notice, links: Links) {
  return { error: 'error' in notice ? links.error(notice.error.id) : null, dashboard: links.page('/overview') }
}

/** Times as programs read them, texts and lists within bounds and without half characters. */
function asJson(notice: Notice): Record<string, unknown> {
  const max_text = notice.event === 'held' || notice.event === 'digest' ? MAX_TEXT_OF_MANY : MAX_TEXT
  return JSON.parse(
    JSON.stringify(notice, (name, value: unknown) => {
      if (typeof value === 'string') return cut(value, max_text).toWellFormed()
      if (Array.isArray(value)) return value.slice(0, MAX_LIST)
      return typeof value === 'number' && /^(at|from|to)$|_at$/.test(name) ? new Date(value).toISOString() : value
    }),
  )
}
