import { TrackerError } from '../../model/errors.js'
import type { Limits, Outcome, Sending } from '../channels/channel.js'
import { answerText } from '../delivery/answer.js'
import { PrivateAddressError } from '../delivery/private-addresses.js'
import { openSmtp } from './smtp.js'

/** A mail server may look through a mail before it takes it: one that is hurried gets it twice. */
const LIMITS: Limits = { connect_ms: 5_000, total_ms: 25_000 }

/** Sends one mail by the host's transport or by smtp_url, once, and tells what became of it. Never throws. */
export async function sendMail(mail: Record<string, unknown>, sending: Sending): Promise<Outcome> {
  const { config, signal, limits = LIMITS } = sending
  const said = (text: string) => answerText(text, config)
  const ended = new AbortController()
  try {
    const info = await Promise.race([
      handOver(mail, sending, limits, ended.signal),
      outOfTime(limits.total_ms, signal, ended.signal),
    ])
    return { state: 'sent', answer: said(sentText(info)) }
  } catch (error) {
    return { state: isFinal(error) ? 'refused' : 'failed', answer: said(why(error)) }
  } finally {
    ended.abort()
  }
}

async function handOver(
  mail: Record<string, unknown>,
  sending: Sending,
  limits: Limits,
  ended: AbortSignal,
): Promise<unknown> {
  const { mail_transport, smtp_url } = sending.config
  if (mail_transport !== null) return mail_transport.sendMail(mail)
  const transport = await openSmtp(smtp_url ?? '', sending, limits)
  ended.addEventListener('abort', () => transport.close())
  // Time may have run out while the package was loaded.
  if (ended.aborted) transport.close()
  return transport.sendMail(mail)
}

/** Rejects when there is no time left, or when the process has to stop. */
function outOfTime(total_ms: number, signal: AbortSignal, ended: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stopped = () => reject(new Error('stopped before there was an answer'))
    const timer = setTimeout(() => reject(new Error(`no answer within ${total_ms / 1000} s`)), total_ms).unref()
    if (signal.aborted) stopped()
    signal.addEventListener('abort', stopped)
    ended.addEventListener('abort', () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stopped)
    })
  })
}

interface SentMail {
  response?: unknown
  accepted?: unknown
  rejected?: unknown
}

function sentText(info: unknown): string {
  const { response, accepted, rejected } = (typeof info === 'object' && info !== null ? info : {}) as SentMail
  const text = typeof response === 'string' ? response : 'handed to the mail transport'
  if (!Array.isArray(rejected) || rejected.length === 0) return text
  const all = rejected.length + (Array.isArray(accepted) ? accepted.length : 0)
  return `refused for ${rejected.length} of ${all} recipients; ${text}`
}

/** Codes of nodemailer for what no second try mends. */
const FINAL_CODES = ['ECONFIG', 'EENVELOPE', 'ENOAUTH']

function isFinal(error: unknown): boolean {
  if (error instanceof PrivateAddressError || error instanceof TrackerError) return true
  const { responseCode, code } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  return typeof responseCode === 'number' ? responseCode >= 500 : FINAL_CODES.includes(String(code))
}

/** What the mail server said, else what went wrong on the way to it. */
function why(error: unknown): string {
  if (!(error instanceof Error)) return 'it could not be sent'
  const response = Reflect.get(error, 'response')
  if (typeof response === 'string' && response !== '') return response
  const cause = error instanceof AggregateError ? error.errors[0] : error
  return (cause instanceof Error ? cause.message : '') || String(Reflect.get(error, 'code') ?? error.name)
}
