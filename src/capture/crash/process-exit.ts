import { atExit } from '../../store/spool/at-exit.js'
import { hasJustEscaped } from '../sources/process.js'
import type { Reporter } from '../sources/source.js'
import { namedError } from './named-error.js'

/** Maximum time between an uncaught error and the exit that it caused. */
const AFTER_ESCAPE_MS = 30_000
/** Maximum time between an error reported by the host and the exit that it caused. */
const AFTER_REPORT_MS = 1000
/** Exit codes for SIGHUP, SIGINT and SIGTERM. */
const STOPPED_BY_SIGNAL = new Set([129, 130, 143])

/** Records a process exit with a failure code for which no error was recorded. Returns the function that stops it. */
export function recordFailedExit({ context, report }: Reporter): () => void {
  const { recorder } = context
  const onExit = (code: number) => {
    // An earlier exit listener of the host may have changed the code.
    const exit_code = Number(process.exitCode ?? code)
    if (exit_code === 0 || STOPPED_BY_SIGNAL.has(exit_code)) return
    if (hasJustEscaped(AFTER_ESCAPE_MS) || recorder.hasRecentActivity(AFTER_REPORT_MS)) return
    const error = namedError('ProcessExit', `The process exited with code ${exit_code}`, framesOfExit(onExit))
    const facts = { exit_code, uptime_seconds: Math.round(process.uptime()) }
    recorder.recordToDisk(() => report(error, { source: 'process_exit', unhandled: true, context: facts }))
  }
  return atExit('failed_exit', onExit)
}

/**
 * The exit event is emitted inside process.exit, so the stack contains its caller. It is empty if process.exit was not
 * called.
 */
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
    // The host's Error.prepareStackTrace failed. Throwing here would change the exit code.
    return []
  }
}
