import type { Options } from '../config/options.js'
import { unknownEnvironmentText } from '../model/environment.js'
import type { Database } from '../store/database.js'
import { allEnvironments } from '../store/environments.js'

/** Names in `notification_environments` that match no error. A name may be misspelled or have no errors yet. */
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
