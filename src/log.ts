import type { Log } from './context.js'
import { createRedactor, type Redactor } from './model/redaction/redaction.js'
import { MINUTE } from './model/time.js'

const REMEMBERED = 100

/**
 * Lines on standard error, each sentence at most once a minute: a storm of failures must not become a storm of lines.
 * Redacted, because the message of a failing driver may contain its connection string.
 */
export function createLog(
  now: () => number,
  write: (line: string) => void = (line) => process.stderr.write(line),
  redactor: Redactor = createRedactor(),
): Log {
  const said = new Map<string, number>()
  const say = (sentence: string) => {
    const last = said.get(sentence)
    if (last !== undefined && now() - last < MINUTE) return
    if (said.size >= REMEMBERED) said.clear()
    said.set(sentence, now())
    write(`[faultboard] ${redactor.text(sentence)}\n`)
  }
  return { info: say, warn: say }
}
