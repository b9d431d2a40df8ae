import { OPTIONS, type OptionName, type Options } from '../../config/options.js'
import { cut } from '../content/legible.js'

const MAX_ANSWER = 500

/** What the delivery log keeps of an answer: its first line, without what the operator keeps secret. */
export function answerText(text: string, config: Options, url?: string): string {
  const [line = ''] = text.trim().split(/[\r\n\u2028\u2029]/, 1)
  const clean = line.toWellFormed().replace(/[\p{Cc}\p{Bidi_Control}]/gu, '')
  const secrets = [...secretsOf(config), ...(url === undefined ? [] : partsOf(url))]
  return cut(withoutSecrets(clean, secrets), MAX_ANSWER)
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return [...new Set(secrets)]
    .filter((secret) => secret.length > 1)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replace(new RegExp(escaped(secret), 'gi'), '***'), text)
}

/** The keys and addresses of the channels; a receiver may repeat them in its answer. */
function secretsOf(config: Options): string[] {
  return (Object.keys(OPTIONS) as OptionName[])
    .filter((name) => OPTIONS[name].group === 'notifications' && 'secret' in OPTIONS[name])
    .flatMap((name) => {
      const value = config[name]
      if (typeof value !== 'string') return []
      return URL.canParse(value) ? [value, ...partsOf(value)] : [value]
    })
}

/** Shorter parts of a path are words such as `api` or `webhooks`, which an answer may well hold. */
const LONG_PART = 9

function partsOf(address: string): string[] {
  const { pathname, search, searchParams, username, password } = new URL(address)
  const parts = [
    ...[pathname + search, pathname, search, password],
    ...[...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= LONG_PART),
  ]
  const [name, word] = [decoded(username), decoded(password)]
  // As a mail server has them from its client, and may say them back.
  const asSent = word === '' ? [] : [base64(word), base64(`\0${name}\0${word}`)]
  return [...parts, ...parts.map(decoded), ...asSent]
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // A percent sign that stands for itself.
    return part
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
