import { TrackerError } from '../../model/errors.js'
import { withTimeout } from '../../model/with-timeout.js'
import type { Outcome, SendContext, Timeouts } from '../channels/channel.js'
import { PrivateAddressError } from '../outbound/private-addresses.js'
import { responseText } from '../outbound/response-text.js'
import { openSmtpTransport } from './smtp.js'

/** Mail servers may scan a mail before accepting it. A shorter timeout would cause duplicates. */
const DEFAULT_TIMEOUTS: Timeouts = { connect_ms: 5_000, total_ms: 25_000 }

/** Sends one email through the host's transport or `smtp_url`. Makes one attempt. Never throws. */
export async function sendMail(mail: Record<string, unknown>, sendContext: SendContext): Promise<Outcome> {
  const { config, signal, timeouts = DEFAULT_TIMEOUTS } = sendContext
  const toLogText = (text: string) => responseText(text, config)
  const finished = new AbortController()
  try {
    const sending = passToTransport(mail, sendContext, timeouts, finished.signal)
    const message = `Timed out after ${timeouts.total_ms / 1000} s.`
    const info = await withTimeout(sending, timeouts.total_ms, { message, signal })
    return { state: 'sent', response: toLogText(acceptedText(info)) }
  } catch (error) {
    return { state: isPermanentFailure(error) ? 'refused' : 'failed', response: toLogText(failureText(error)) }
  } finally {
    finished.abort()
  }
}

async function passToTransport(
  mail: Record<string, unknown>,
  sendContext: SendContext,
  timeouts: Timeouts,
  finished: AbortSignal,
): Promise<unknown> {
  const { mail_transport, smtp_url } = sendContext.config
  if (mail_transport !== null) return mail_transport.sendMail(mail)
  const transport = await openSmtpTransport(smtp_url ?? '', sendContext, timeouts)
  finished.addEventListener('abort', () => transport.close())
  // The timeout may have passed while nodemailer was loading.
  if (finished.aborted) transport.close()
  return transport.sendMail(mail)
}

interface SentMail {
  response?: unknown
  accepted?: unknown
  rejected?: unknown
}

function acceptedText(info: unknown): string {
  const { response, accepted, rejected } = (typeof info === 'object' && info !== null ? info : {}) as SentMail
  const text = typeof response === 'string' ? response : 'Accepted by the mail transport.'
  if (!Array.isArray(rejected) || rejected.length === 0) return text
  const all = rejected.length + (Array.isArray(accepted) ? accepted.length : 0)
  return `Rejected for ${rejected.length} of ${all} recipients: ${text}`
}

/** Nodemailer codes for permanent failures. */
const PERMANENT_FAILURE_CODES = ['ECONFIG', 'EENVELOPE', 'ENOAUTH']

function isPermanentFailure(error: unknown): boolean {
  if (error instanceof PrivateAddressError || error instanceof TrackerError) return true
  const { responseCode, code } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  return typeof responseCode === 'number' ? responseCode >= 500 : PERMANENT_FAILURE_CODES.includes(String(code))
}

/** Response of the mail server, or the connection error. */
function failureText(error: unknown): string {
  if (!(error instanceof Error)) return 'Unknown failure.'
  const response = Reflect.get(error, 'response')
  if (typeof response === 'string' && response !== '') return response
  const cause = error instanceof AggregateError ? error.errors[0] : error
  return (cause instanceof Error ? cause.message : '') || String(Reflect.get(error, 'code') ?? error.name)
}
