import { atExit } from '../../store/spool/at-exit.js'
import { hasJustEscaped } from '../sources/process.js'
import type { Reporter } from '../sources/source.js'
import { namedError } from './named-error.js'

/** How long a host may take from an error that nobody caught until it ends the process because of it. */
const AFTER_ESCAPE_MS = 30_000
/** The same for an error that it has reported itself. */
const AFTER_REPORT_MS = 1000
/** How a process says that SIGHUP, SIGINT or SIGTERM has ended it. */
const STOPPED_BY_SIGNAL = new Set([129, 130, 143])

/** Records that the process ends with a failure for which no error was recorded. Gives the function that ends it. */
export function recordFailedExit({ context, report }: Reporter): () => void {
  const { recorder } = context
  const onExit = (code: number) => {
    // A listener of the host that came before us may have changed it.
    const exit_code = Number(process.exitCode ?? code)
    if (exit_code === 0 || STOPPED_BY_SIGNAL.has(exit_code)) return
    if (hasJustEscaped(AFTER_ESCAPE_MS) || recorder.hasFresh(AFTER_REPORT_MS)) return
    const error = namedError('ProcessExit', `The process exited with code ${exit_code}`, framesOfExit(onExit))
    const facts = { exit_code, uptime_seconds: Math.round(process.uptime()) }
    recorder.onDisk(() => report(error, { source: 'process_exit', unhandled: true, context: facts }))
  }
  return atExit('failed_exit', onExit)
}

/** The exit event is emitted inside process.exit, so that the stack names who called it; else nobody did. */
function framesOfExit(above: (code: number) => void): string[] {
  const lines = stackBelow(above)
  const call = lines.findIndex((line) => /^\s+at process\.(exit|reallyExit)\b.*\(node:/.test(line))
  return call < 0 ? [] : lines.slice(call + 1)
}

function stackBelow(above: (code: number) => void): string[] {
  try {
    const here: { stack?: unknown } = {}
    Error.captureStackTrace(here, above)
    return typeof here.stack === 'string' ? here.stack.split('\n') : []
  } catch {
    // The host's own Error.prepareStackTrace failed; thrown from here, it would change the exit code.
    return []
  }
}
