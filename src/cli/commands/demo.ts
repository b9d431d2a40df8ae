import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { integer, parseInput } from '../../model/input/input.js'
import { OPTION_NAMES, type Options, optionRow, resolveConfiguration, type Settings } from '../../options.js'
import { migrate } from '../../store/migrate.js'
import type { TrackerInstance } from '../../tracker.js'
import { COMMON_FLAGS, defineCommand } from '../command.js'
import { hasPassword, randomPassword, readConfiguration, withCredentials } from '../configuration.js'
import { Sample } from '../demo/sample.js'
import { LISTEN_FLAGS, resolveEndpoint } from '../host/listen.js'
import { runHost } from '../host/run-host.js'
import { stopSignal } from '../host/stop-signal.js'
import { openTracker } from '../open-tracker.js'
import { createDatabaseFrom, runQuery, withDatabase } from '../tracker-database.js'

export const demo = defineCommand({
  name: 'demo',
  summary: 'Run the dashboard with 90 days of sample errors, and new ones every few seconds',
  text: 'The errors belong to four fictional applications. They are stored in a temporary SQLite file that is deleted at the end,\nor in --database; the configured database is not touched. If no credentials are configured, a password is generated\nand printed.',
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
    await withDemoDatabase(flags.database === undefined ? null : options, async (database) => {
      const tracker = await openDemoTracker(options, database, flags['application-name'])
      const sample = await Sample.open({ database, seed, now: Date.now() })
      try {
        await runHost({
          tracker,
          endpoint,
          stop,
          prepare: () => sample.start(stop),
          password,
          database: createDatabaseFrom(tracker.config).dialect.address,
          json: flags.json,
        })
      } finally {
        await sample.close()
        await tracker.shutdown()
      }
    })
    return 0
  },
})

const SEED_FLAG = v.object({ '--seed': v.optional(integer({ min: 0, max: 4_294_967_295 })) })

/** Opens the requested or a temporary database and migrates its schema. */
async function withDemoDatabase(
  databaseOptions: Options | null,
  work: (url: string | object) => Promise<void>,
): Promise<void> {
  if (databaseOptions) {
    await withDatabase(databaseOptions, (database) => runQuery(database, () => migrate(database)))
    return work(databaseOptions.database)
  }
  const folder = await mkdtemp(join(tmpdir(), 'faultboard-demo-'))
  try {
    await work(`sqlite:${join(folder, 'demo.sqlite3')}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Only the dashboard options come from the configuration. The rest belongs to the real application; its spool, for
 * example, would be imported here and lost there.
 */
function openDemoTracker(
  options: Options,
  database: string | object,
  application_name = 'Demo host',
): Promise<TrackerInstance> {
  const served = OPTION_NAMES.filter((name) => optionRow(name).group === 'dashboard' || name === 'time_zone')
  const settings: Settings = Object.fromEntries(served.map((name) => [name, options[name]]))
  return openTracker({ ...settings, ...DEMO_SETTINGS, database, application_name }, { env: {} })
}

/** Optional features to show in the demo. */
const DEMO_SETTINGS: Settings = {
  enable_breadcrumbs: true,
  enable_system_health: true,
  enable_process_health: true,
  enable_diagnostic_dump: true,
}
