import { atExit } from '../../store/spool/at-exit.js'
import { hasRecentUncaught } from '../sources/process.js'
import type { Reporter } from '../sources/source.js'
import { namedError } from './named-error.js'

/** Maximum time between an uncaught error and the exit that it caused. */
const UNCAUGHT_ERROR_WINDOW_MS = 30_000
/** Maximum time between an error reported by the host and the exit that it caused. */
const REPORTED_ERROR_WINDOW_MS = 1000
/** Exit codes for SIGHUP, SIGINT and SIGTERM. */
const SIGNAL_EXIT_CODES = new Set([129, 130, 143])

/**
 * Records a process exit with a failure code if no error explains the exit. Returns the function that removes the
 * listener.
 */
export function recordFailedExit({ context, report }: Reporter): () => void {
  const { recorder } = context
  const onExit = (code: number) => {
    // An earlier exit listener in the host may have changed the code.
    const exitCode = Number(process.exitCode ?? code)
    if (exitCode === 0 || SIGNAL_EXIT_CODES.has(exitCode)) return
    if (hasRecentUncaught(UNCAUGHT_ERROR_WINDOW_MS) || recorder.hasRecentActivity(REPORTED_ERROR_WINDOW_MS)) return
    const error = namedError('ProcessExit', `The process exited with code ${exitCode}`, exitFrames(onExit))
    const facts = { exit_code: exitCode, uptime_seconds: Math.round(process.uptime()) }
    recorder.recordToDisk(() => report(error, { source: 'process_exit', unhandled: true, context: facts }))
  }
  return atExit('failed_exit', onExit)
}

/** Returns the frames that called process.exit, which emits the exit event. Empty if process.exit was not called. */
function exitFrames(topFunction: (code: number) => void): string[] {
  const lines = stackBelow(topFunction)
  const exitCall = lines.findIndex((line) => /^\s+at process\.(exit|reallyExit)\b.*\(node:/.test(line))
  return exitCall < 0 ? [] : lines.slice(exitCall + 1)
}

function stackBelow(topFunction: (code: number) => void): string[] {
  try {
    const holder: { stack?: unknown } = {}
    Error.captureStackTrace(holder, topFunction)
    return typeof holder.stack === 'string' ? holder.stack.split('\n') : []
  } catch {
    // The host's Error.prepareStackTrace failed. Throwing here would change the exit code.
    return []
  }
}
