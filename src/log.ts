import type { Log } from './context.js'
import { createRedactor, type Redactor } from './model/redaction/redaction.js'
import { MINUTE } from './model/time.js'

const MAX_REMEMBERED = 100

/**
 * Writes lines to standard error. Writes each message at most once a minute, so that repeated failures do not flood the
 * log. Redacts lines, because driver errors can contain connection strings.
 */
export function createLog(
  now: () => number,
  write: (line: string) => void = (line) => process.stderr.write(line),
  redactor: Redactor = createRedactor(),
): Log {
  const lastWritten = new Map<string, number>()
  const writeLine = (message: string) => {
    const last = lastWritten.get(message)
    if (last !== undefined && Math.abs(now() - last) < MINUTE) return
    if (lastWritten.size >= MAX_REMEMBERED) lastWritten.clear()
    lastWritten.set(message, now())
    write(`[faultboard] ${redactor.text(message)}\n`)
  }
  return { info: writeLine, warn: writeLine }
}
