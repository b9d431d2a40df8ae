import type { Options } from '../../config/options.js'
import { resolveConfiguration } from '../../config/resolve.js'
import type { JobEngine } from '../../jobs/engine.js'
import { createEngine } from '../../jobs/engines.js'
import { reasonOf } from '../../jobs/reason.js'
import { TrackerError } from '../../model/errors.js'
import { openSchema } from '../../store/open.js'
import { COMMON_FLAGS, CommandFailed, defineCommand } from '../command.js'
import { readConfiguration, withoutDashboard } from '../configuration.js'
import { aborted, stopSignal } from '../host/stop-signal.js'
import { print } from '../io/terminal.js'
import { openTracker } from '../open-tracker.js'
import { withDatabase, withNextStep } from '../tracker-database.js'

export const work = defineCommand({
  name: 'work',
  summary: 'Work on jobs until it is stopped: messages, schedules, accepted errors',
  text: 'For processes beside those of the application, which may then set run_jobs to false. It takes the same configuration:\nthe database, the job engine, the channels that messages go to.\nSIGTERM and SIGINT let it finish what it is doing; what it cannot finish, another process does.',
  examples: ['faultboard work', 'FAULTBOARD_JOB_ENGINE=bullmq FAULTBOARD_REDIS_URL=redis://127.0.0.1 faultboard work'],
  flags: COMMON_FLAGS,
  async run(flags) {
    const stop = stopSignal()
    const { settings } = await readConfiguration(flags)
    // A fault of the command line is no error of the application whose jobs it does.
    const own = { enable_error_subscriber: false, enable_breadcrumbs: false, run_jobs: true }
    const all = { ...withoutDashboard(settings), ...own }
    const { options } = resolveConfiguration(all)
    const engine = await usableEngine(options)
    const tracker = await openTracker(all)
    try {
      const { database } = await tracker.stats()
      print(`Working on the jobs of ${database} (${engine}). Stop with Ctrl+C or SIGTERM.`)
      await heldUntil(stop)
    } finally {
      await tracker.shutdown()
    }
    print('Stopped.')
    return 0
  },
})

/** A package or a server that is missing is said at once, instead of being waited for. */
function usableEngine(config: Options): Promise<JobEngine['name']> {
  return withDatabase(config, async (database) => {
    const say = () => {}
    const surroundings = { log: { info: say, warn: say }, now: Date.now, random: Math.random }
    const engine = createEngine({ config, database, ready: () => openSchema(database), ...surroundings })
    try {
      await engine.counts()
      return engine.name
    } catch (error) {
      if (error instanceof TrackerError) {
        if (error.code !== 'database_unavailable') throw error
        throw new TrackerError(error.code, withNextStep(error.message), { cause: error })
      }
      throw new CommandFailed(
        `The job engine ${engine.name} cannot be used: ${reasonOf(error).replace(/\.$/, '')}. Does its server run, and does the configuration name it?`,
      )
    } finally {
      await engine.stop()
    }
  })
}

/** Nothing of the tracker keeps a process alive, and here nothing else does. */
async function heldUntil(stop: AbortSignal): Promise<void> {
  const hold = setInterval(() => {}, 2 ** 30)
  await aborted(stop)
  clearInterval(hold)
}
