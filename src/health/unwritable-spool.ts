import type { Context } from '../context.js'

/** Delays the check to keep it out of the host's startup and of short scripts. */
const CHECK_DELAY_MS = 1000

/** Describes the consequence and the fix, for the log and `faultboard check`. */
export function unwritableSpoolText(problem: string): string {
  return `${problem}: errors would be lost while the database is unreachable. Set spool_path to another folder.`
}

/** Warns after startup if a database outage would lose errors. Returns a function that cancels the check. */
export function warnIfSpoolUnwritable({ spool, ready, log }: Context): () => void {
  const warn = async () => {
    // The recorder reports an unavailable database and lost errors.
    await ready()
    const problem = await spool.writeProblem()
    if (problem !== null) log.warn(unwritableSpoolText(problem))
  }
  const timer = setTimeout(() => void warn().catch(() => {}), CHECK_DELAY_MS).unref()
  return () => clearTimeout(timer)
}
