import type { Cause } from '../../model/event.js'
import { locationPhrase } from './error-location.js'
import type { ErrorRecord } from './error-record.js'

const MAX_FRAMES = 30
const MAX_MESSAGE_LENGTH = 4000

/**
 * Formats an error as Markdown for an issue or chat. Wraps external text in code blocks and spans that the text cannot
 * close. It never renders as a link, mention or image.
 */
export function errorMarkdown(record: ErrorRecord, { url, root }: { url: string; root: string }): string {
  const { message } = record
  const location = locationPhrase(record, root)
  return [
    `## ${codeSpan(record.error_type)}${location ? ` ${location.relation} ${codeSpan(location.place)}` : ''}`,
    codeBlock(
      message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH)}…` : message || '(no message)',
    ),
    errorFacts(record)
      .map(([name, value]) => `- ${name}: ${value}`)
      .join('\n'),
    record.backtrace.length > 0 ? `### Stack\n\n${codeBlock(stackText(record.backtrace))}` : '',
    ...record.causes.map((cause) => causeText(cause)),
    url,
  ]
    .filter(Boolean)
    .join('\n\n')
}

function errorFacts(record: ErrorRecord): [string, string][] {
  const { request, request_url } = record
  const method = typeof request?.method === 'string' ? request.method : ''
  const facts: [string, string | null][] = [
    ['Severity', codeSpan(record.severity)],
    ['Status', codeSpan(record.status)],
    ['Occurrences', `${record.occurrence_count} (${record.user_count} ${record.user_count === 1 ? 'user' : 'users'})`],
    ['First seen', seenText(record.first_seen_at, record.first_app_version)],
    ['Last seen', seenText(record.occurred_at, record.last_app_version)],
    ['Application', codeSpan(record.application_name)],
    ['Platform', codeSpan(record.platform)],
    ['Commit', record.git_sha && codeSpan(record.git_sha)],
    ['Request', request_url && codeSpan(`${method} ${request_url}`.trim())],
  ]
  return facts.filter((fact): fact is [string, string] => Boolean(fact[1]))
}

function seenText(time: string, version: string | null): string {
  return version ? `${time} in ${codeSpan(version)}` : time
}

function causeText(cause: Cause): string {
  const lines = [`${cause.error_type}${cause.code ? ` (${cause.code})` : ''}: ${cause.message}`, ...cause.backtrace]
  return [
    `### ${cause.relation === 'cause' ? 'Caused by' : cause.relation === 'aggregated' ? 'Aggregated' : 'Suppressed'}`,
    codeBlock(stackText(lines)),
    ...(cause.causes ?? []).map(causeText),
  ].join('\n\n')
}

function stackText(lines: readonly string[]): string {
  const omittedLines = lines.length - MAX_FRAMES
  return omittedLines > 0 ? [...lines.slice(0, MAX_FRAMES), `… ${omittedLines} more`].join('\n') : lines.join('\n')
}

/** Uses a fence longer than any run of backticks in the text, because an equally long run would close it. */
function codeBlock(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestBacktickRun(text) + 1))
  return `${fence}text\n${text}\n${fence}`
}

/** Collapses whitespace, because an empty line would end the code span. */
function codeSpan(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const fence = '`'.repeat(longestBacktickRun(line) + 1)
  const padding = /^`|`$/.test(line) ? ' ' : ''
  return line === '' ? '' : `${fence}${padding}${line}${padding}${fence}`
}

function longestBacktickRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length))
}
