import { join } from 'node:path'
import * as v from 'valibot'
import { integer, parseInput } from '../../model/input/input.js'
import { resolveConfiguration } from '../../options.js'
import { migrate } from '../../store/migrate.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { hasPassword, randomPassword, readConfiguration, withCredentials } from '../configuration.js'
import { runDemo } from '../demo/run-demo.js'
import { LISTEN_FLAGS, resolveEndpoint } from '../host/listen.js'
import { stopSignal } from '../host/stop-signal.js'
import { withTemporaryFolder } from '../host/temporary-folder.js'
import { runQuery, withDatabase } from '../tracker-database.js'

export const demo = defineCommand({
  name: 'demo',
  summary: 'Run a sample shop with failing routes, its dashboard and 90 days of errors',
  text: 'The shop and its customers run on this machine. New errors occur every few seconds at first, and every minute later.\nThree more fictional applications have a history. Errors are stored in a temporary SQLite file that is deleted at the end, or in --database; the configured\ndatabase is not touched. If no credentials are configured, a password is generated and printed.',
  examples: ['faultboard demo', 'faultboard demo --port 8080 --database postgres://localhost/playground'],
  flags: {
    ...LISTEN_FLAGS,
    ...COMMON_FLAGS,
    seed: { value: 'N', text: 'Seed for the sample errors (default: 1)' },
    json: { text: 'Print one line of JSON with the URL and the password when the dashboard is ready' },
  },
  async run(flags) {
    const stop = stopSignal()
    const endpoint = resolveEndpoint(flags)
    const { '--seed': seed = 1 } = parseInput(SEED_FLAG, { '--seed': flags.seed })
    const { settings } = await readConfiguration(flags)
    const generatedPassword = { username: 'admin', password: randomPassword() }
    const { options } = resolveConfiguration(withCredentials(settings, generatedPassword))
    const password = hasPassword(settings) ? null : generatedPassword.password
    if (flags.database !== undefined) {
      await withDatabase(options, (database) => runQuery(database, () => migrate(database)))
    }
    await withTemporaryFolder('faultboard-demo-', async (folder) => {
      // With the flag, the option is a URL and never a pool or handle.
      const database =
        flags.database === undefined ? `sqlite:${join(folder, 'demo.sqlite3')}` : (options.database as string)
      const application_name = flags['application-name']
      await runDemo({ options, database, application_name, folder, seed, endpoint, stop, password, json: flags.json })
    })
    return 0
  },
})

const SEED_FLAG = v.object({ '--seed': v.optional(integer({ min: 0, max: 4_294_967_295 })) })
