import type { JobEngine } from '../../jobs/engine.js'
import { createEngine } from '../../jobs/engines.js'
import { failureReason } from '../../jobs/reason.js'
import { TrackerError } from '../../model/errors.js'
import type { Options } from '../../options.js'
import { resolveConfiguration } from '../../options.js'
import { openSchema } from '../../store/open-schema.js'
import { COMMON_FLAGS, CommandFailed, defineCommand } from '../command.js'
import { readConfiguration } from '../configuration.js'
import { aborted, stopSignal } from '../host/stop-signal.js'
import { jsonLine, print } from '../io/terminal.js'
import { openTracker } from '../open-tracker.js'
import { withDatabase, withHint } from '../tracker-database.js'

export const work = defineCommand({
  name: 'work',
  summary: 'Run background jobs until stopped: notifications, schedules, accepted errors',
  text: 'Runs jobs in a separate process, so that the application can set run_jobs to false. Uses the same configuration:\nthe database, the job engine, the notification channels.\nOn SIGTERM and SIGINT it finishes the current jobs; other processes run the rest.',
  examples: ['faultboard work', 'FAULTBOARD_JOB_ENGINE=bullmq FAULTBOARD_REDIS_URL=redis://127.0.0.1 faultboard work'],
  flags: { ...COMMON_FLAGS, json: { text: 'Print one line of JSON when the process is ready to run jobs' } },
  async run(flags) {
    const stop = stopSignal()
    const { settings } = await readConfiguration(flags)
    // Failures of this command are not errors of the application whose jobs it runs.
    const commandSettings = { enable_error_subscriber: false, enable_breadcrumbs: false, run_jobs: true }
    const workSettings = { ...settings, ...commandSettings }
    const { options } = resolveConfiguration(workSettings)
    const engine = await usableEngine(options)
    const tracker = await openTracker(workSettings)
    try {
      const { database } = await tracker.stats()
      if (flags.json) print(jsonLine({ database, engine }))
      else print(`Running jobs from ${database} (${engine}). Stop with Ctrl+C or SIGTERM.`)
      await keepAliveUntil(stop)
    } finally {
      await tracker.shutdown()
    }
    if (!flags.json) print('Stopped.')
    return 0
  },
})

/** Reports a missing package or unreachable server immediately, instead of waiting for it. */
function usableEngine(config: Options): Promise<JobEngine['name']> {
  return withDatabase(config, async (database) => {
    const ignore = () => {}
    const engineContext = { log: { info: ignore, warn: ignore }, now: Date.now, random: Math.random }
    const engine = createEngine({ config, database, ready: () => openSchema(database), ...engineContext })
    try {
      await engine.counts()
      return engine.name
    } catch (error) {
      if (error instanceof TrackerError) {
        if (error.code !== 'database_unavailable') throw error
        throw new TrackerError(error.code, withHint(error.message), { cause: error })
      }
      throw new CommandFailed(
        `Cannot use the job engine ${engine.name}: ${failureReason(error).replace(/\.$/, '')}. Is its server running, and is it configured correctly?`,
      )
    } finally {
      await engine.stop()
    }
  })
}

/** Keeps the process alive, which the tracker does not. */
async function keepAliveUntil(stop: AbortSignal): Promise<void> {
  const keepAlive = setInterval(() => {}, 2 ** 30)
  await aborted(stop)
  clearInterval(keepAlive)
}
