import { OPTIONS, type OptionName, type Options } from '../../config/options.js'
import { truncate } from '../content/safe-text.js'

const MAX_RESPONSE_LENGTH = 500

/** Text of a response for the delivery log: its first line, with secrets redacted. */
export function responseText(text: string, config: Options, url?: string): string {
  const [line = ''] = text.trim().split(/[\r\n\u2028\u2029]/, 1)
  const clean = line.toWellFormed().replace(/[\p{Cc}\p{Bidi_Control}]/gu, '')
  const secrets = [...configuredSecrets(config), ...(url === undefined ? [] : urlSecrets(url))]
  return truncate(redactSecrets(clean, secrets), MAX_RESPONSE_LENGTH)
}

function redactSecrets(text: string, secrets: readonly string[]): string {
  return [...new Set(secrets)]
    .filter((secret) => secret.length > 1)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replace(new RegExp(escapeRegExp(secret), 'gi'), '***'), text)
}

/** Keys and URLs of the channels. A receiver may echo them in its response. */
function configuredSecrets(config: Options): string[] {
  return (Object.keys(OPTIONS) as OptionName[])
    .filter((name) => OPTIONS[name].group === 'notifications' && 'secret' in OPTIONS[name])
    .flatMap((name) => {
      const value = config[name]
      if (typeof value !== 'string') return []
      return URL.canParse(value) ? [value, ...urlSecrets(value)] : [value]
    })
}

/** Shorter path segments, such as `api` or `webhooks`, are ordinary words that a response may contain. */
const MIN_SECRET_LENGTH = 9

function urlSecrets(address: string): string[] {
  const { pathname, search, searchParams, username, password } = new URL(address)
  const parts = [
    ...[pathname + search, pathname, search, password],
    ...[...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= MIN_SECRET_LENGTH),
  ]
  const [userName, userPassword] = [decodeComponent(username), decodeComponent(password)]
  // The encoded forms that an SMTP client sends, which a mail server may echo.
  const encodedCredentials = userPassword === '' ? [] : [base64(userPassword), base64(`\0${userName}\0${userPassword}`)]
  return [...parts, ...parts.map(decodeComponent), ...encodedCredentials]
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function decodeComponent(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    // Contains a literal percent sign.
    return part
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
