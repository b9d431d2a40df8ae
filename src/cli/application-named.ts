import type { TrackerInstance } from '../tracker.js'
import { didYouMean, wrongUse } from './arguments.js'
import { harmless } from './io/terminal.js'

/** Returns the id of an application that has recorded an error. */
export async function applicationNamed(
  name: string,
  { Applications }: Pick<TrackerInstance['Queries'], 'Applications'>,
): Promise<number> {
  const known = await Applications.call()
  const found = known.find((application) => application.name === name)
  if (found) return found.id
  const names = known.map((application) => harmless(application.name))
  throw wrongUse(`No application "${name}" has recorded an error here${didYouMean(name, names)}`)
}
