import type { Cause } from '../../model/event.js'
import { placeWords } from './error-place.js'
import type { ErrorRecord } from './error-record.js'

const FRAMES = 30
const MESSAGE_LIMIT = 4000

/**
 * An error as Markdown, for an issue or a chat. What it took from outside stands in code blocks and code spans that it
 * cannot break out of, so that no text of an attacker becomes a link, a mention or an image.
 */
export function errorMarkdown(record: ErrorRecord, { url, root }: { url: string; root: string }): string {
  const { message } = record
  const where = placeWords(record, root)
  return [
    `## ${span(record.error_type)}${where ? ` ${where.relation} ${span(where.place)}` : ''}`,
    block(message.length > MESSAGE_LIMIT ? `${message.slice(0, MESSAGE_LIMIT)}…` : message || '(no message)'),
    factsOf(record)
      .map(([name, value]) => `- ${name}: ${value}`)
      .join('\n'),
    record.backtrace.length > 0 ? `### Stack\n\n${block(stackText(record.backtrace))}` : '',
    ...record.causes.map((cause) => causeText(cause)),
    url,
  ]
    .filter(Boolean)
    .join('\n\n')
}

function factsOf(record: ErrorRecord): [string, string][] {
  const { request, request_url } = record
  const method = typeof request?.method === 'string' ? request.method : ''
  const facts: [string, string | null][] = [
    ['Severity', span(record.severity)],
    ['Status', span(record.status)],
    ['Events', `${record.occurrence_count} (${record.user_count} ${record.user_count === 1 ? 'user' : 'users'})`],
    ['First seen', seen(record.first_seen_at, record.first_app_version)],
    ['Last seen', seen(record.occurred_at, record.last_app_version)],
    ['Application', span(record.application_name)],
    ['Platform', span(record.platform)],
    ['Commit', record.git_sha && span(record.git_sha)],
    ['Request', request_url && span(`${method} ${request_url}`.trim())],
  ]
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]))
}

function seen(time: string, version: string | null): string {
  return version ? `${time} in ${span(version)}` : time
}

function causeText(cause: Cause): string {
  const lines = [`${cause.error_type}${cause.code ? ` (${cause.code})` : ''}: ${cause.message}`, ...cause.backtrace]
  return [
    `### ${cause.relation === 'cause' ? 'Caused by' : cause.relation === 'aggregated' ? 'Gathered' : 'Suppressed'}`,
    block(stackText(lines)),
    ...(cause.causes ?? []).map(causeText),
  ].join('\n\n')
}

function stackText(lines: readonly string[]): string {
  const more = lines.length - FRAMES
  return more > 0 ? [...lines.slice(0, FRAMES), `… ${more} more`].join('\n') : lines.join('\n')
}

/** A fence is closed by one at least as long, so ours is longer than any run of backticks in the text. */
function block(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
  return `${fence}text\n${text}\n${fence}`
}

/** One line of code; an empty line would end the span and let loose what follows. */
function span(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const fence = '`'.repeat(longestRun(line) + 1)
  const room = /^`|`$/.test(line) ? ' ' : ''
  return line === '' ? '' : `${fence}${room}${line}${room}${fence}`
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
}
