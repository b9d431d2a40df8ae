import type { Options } from '../config/options.js'
import { unknownEnvironmentText } from '../model/environment.js'
import type { Database } from '../store/database.js'
import { allEnvironments } from '../store/environments.js'

/** Names of `notification_environments` that no error has. They may be misspelled, or without errors so far. */
export async function environmentHints(
  database: Database,
  { notification_environments }: Pick<Options, 'notification_environments'>,
): Promise<string[]> {
  if (notification_environments === null) return []
  const known = await allEnvironments(database)
  return notification_environments.flatMap((name) => {
    const problem = unknownEnvironmentText(name, known)
    return problem ? [`notification_environments contains an unknown name. ${problem}`] : []
  })
}
